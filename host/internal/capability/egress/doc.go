// Package egress is the one way out: every HTTP request that a plugin causes, from WebAssembly or by a native bridge, is
// compared with what the operator granted, at every redirect and once more at the address that is dialled. What is not
// granted is refused with a stable code.
//
// A name says nothing about where it leads, so the broker resolves it itself, refuses addresses that are not public
// unless they were named, and never reaches the service's own listeners. Secrets are put in here, last, for the hosts
// they are bound to; an answer that shows one is dropped. Which grants a plugin has is decided elsewhere.
package egress
