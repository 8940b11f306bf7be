// The page: its session, its workspace, and the parts that show what is in it.

import { activate, get, onEnd, sentence, session } from "./api.js";
import { Ask } from "./ask.js";
import { announce, find, make, moment } from "./dom.js";
import { Feed } from "./feed.js";
import { plain } from "./inert.js";
import { Objects } from "./objects.js";
import { object, text } from "./read.js";
import { Research } from "./research.js";
import { Timeline } from "./timeline.js";
import { Tools } from "./tools.js";

/** How often it is asked whether another window has switched the workspace, in milliseconds. */
const NOW_AND_THEN = 15_000;

const page = {
  desk: find("desk", HTMLElement),
  closed: find("closed", HTMLElement),
  closedTitle: find("closed-title", HTMLElement),
  trouble: find("trouble", HTMLElement),
  empty: find("empty", HTMLElement),
  workspace: find("workspace", HTMLSelectElement),
  where: find("where", HTMLElement),
  active: find("active", HTMLElement),
  switch: find("switch", HTMLFormElement),
  ends: find("ends", HTMLElement),
};

const objects = new Objects();
const tools = new Tools(objects, () => changed());
const timeline = new Timeline(objects, { changed: () => changed(), byHand: () => tools.turn });
const research = new Research(objects, () => changed());

/** @type {Map<string, string>} what does not work, by who says so */
const troubles = new Map();

/** @param {string} who */
const troubled = (who) => (/** @type {string} */ problem) => {
  if (problem === "") troubles.delete(who);
  else troubles.set(who, problem);
  const [first] = troubles.values();
  if (page.trouble.textContent !== (first ?? "")) page.trouble.textContent = first ?? "";
};

const events = new Feed("/api/v1/agent-tools/events", (happenings, gap) => {
  timeline.take(happenings, gap);
  void research.load();
}, troubled("events"));

const runtimeEvents = new Feed("/api/v1/agent-runtime/events", (happenings, gap) => {
  timeline.takeRuntime(happenings, gap);
  void readTurns(new Set(happenings.map((event) => event.turn)));
}, troubled("runtime"));

let runtimeThere = false;

const ask = new Ask({
  started: (turn, runtime) => {
    if (runtime) timeline.showTurn(turn);
    changed();
  },
  runtime: (there) => {
    if (there && !runtimeThere) runtimeEvents.start();
    if (!there) runtimeEvents.stop();
    runtimeThere = there;
  },
});

/** @type {import("./api.js").Session | null} */
let current = null;

let looking = 0;

onEnd(close);
await begin();

/** Opens the page, or says how to. */
async function begin() {
  try {
    await enter(await session());
  } catch (cause) {
    page.trouble.textContent = sentence(cause);
  }
}

/**
 * Shows a workspace from its beginning.
 * @param {import("./api.js").Session} now
 */
async function enter(now) {
  leave();
  current = now;
  page.closed.hidden = true;
  page.desk.hidden = false;
  page.where.hidden = false;
  page.trouble.textContent = "";
  page.empty.hidden = now.active !== "";
  page.active.textContent = now.active === "" ? "none" : plain(now.active);
  page.workspace.replaceChildren(...now.workspaces.map((id) => make("option", { value: id, selected: id === now.active }, plain(id))));
  page.switch.hidden = now.workspaces.length < 2 && now.active !== "";
  page.ends.replaceChildren(...(now.expires === "" ? [] : ["Session until ", moment(now.expires)]));
  timeline.forget();
  objects.forget();
  events.start();
  looking = window.setTimeout(look, NOW_AND_THEN);
  await Promise.all([tools.start(), research.start(), ask.start()]);
}

function leave() {
  window.clearTimeout(looking);
  events.stop();
  runtimeEvents.stop();
  runtimeThere = false;
  tools.stop();
  research.stop();
  ask.stop();
}

/** The session is over: nothing more is asked, and what stands here is of no use. */
function close() {
  if (!page.closed.hidden) return;
  leave();
  page.desk.hidden = true;
  page.closed.hidden = false;
  page.switch.hidden = true;
  page.where.hidden = true;
  page.ends.replaceChildren();
  page.closedTitle.focus();
  announce("The session is over");
}

/** Something was done: what happened shows it. */
function changed() {
  events.poke();
  if (runtimeThere) runtimeEvents.poke();
  void research.load();
}

/** Looks whether another window has switched the workspace, or another instance answers. */
async function look() {
  window.clearTimeout(looking);
  if (!page.closed.hidden || document.hidden) return; // who comes back looks again
  try {
    const now = await session();
    if (now.active !== current?.active || now.instance !== current.instance) {
      announce("The workspace was switched");
      return await enter(now);
    }
  } catch {
    // Where the session is over, close has heard of it; where the service is away, the feed says so.
  }
  looking = window.setTimeout(look, NOW_AND_THEN);
}

/** @param {Set<string>} turns */
async function readTurns(turns) {
  for (const id of turns) {
    try {
      const turn = object(await get("/api/v1/agent-runtime/turns/" + encodeURIComponent(id)));
      if (text(turn.turn_id) === id) timeline.showTurn(turn);
    } catch {
      // A turn that the service has forgotten keeps the state it had.
    }
  }
}

page.switch.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const now = await activate(page.workspace.value);
    announce("The workspace is " + plain(now.active));
    await enter(now);
  } catch (cause) {
    page.trouble.textContent = sentence(cause);
  }
});

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) void look();
});
