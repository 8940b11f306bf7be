// Package agenttools speaks the agent tool protocol of a local workstation: nothing is executed, read or told for a
// request that does not come from the one browser session which a person opened with the launch address.
//
// Every route asks in the same order: Host; for reading the session, for changing cookie, Origin and CSRF token; how
// often; whether there is such a route; the frame of the body; its JSON; the envelope of the route. Only then the
// gateway, the research desk or the runtime hears of it. No answer has a configured secret in it, and none may be read
// by a page of another origin. What tools, plans and turns do is left to those three, what a person sees to the page.
package agenttools
