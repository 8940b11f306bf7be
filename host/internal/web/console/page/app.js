// The page: who may ask, the conversation, and the field to ask in.

import { ApiError, login, logout, session } from "./api.js";
import { announce, find } from "./dom.js";
import { Turn } from "./turn.js";
import { Waiting } from "./waiting.js";

const page = {
  login: find("login", HTMLElement),
  loginForm: find("login-form", HTMLFormElement),
  loginCode: find("login-code", HTMLInputElement),
  loginProblem: find("login-problem", HTMLElement),
  welcome: find("welcome", HTMLElement),
  examples: find("examples", HTMLElement),
  conversation: find("conversation", HTMLElement),
  turns: find("turns", HTMLElement),
  composer: find("composer", HTMLElement),
  form: find("ask", HTMLFormElement),
  question: find("question", HTMLTextAreaElement),
  send: find("send", HTMLButtonElement),
  stop: find("stop", HTMLButtonElement),
  fresh: find("fresh", HTMLButtonElement),
  logout: find("logout", HTMLButtonElement),
};

/** @type {Turn | null} the turn that is under way */
let current = null;

const waiting = new Waiting();

/** The conversation's session id; empty before the first answer. */
let conversation = "";

start();

async function start() {
  const code = takeCode();
  if (code !== "") await tryLogin(code); // where it fails, an older login may still do
  await enter();
}

/** Takes the one-time code out of the address, so that neither history nor a bookmark keeps it. */
function takeCode() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code") ?? "";
  if (code !== "") history.replaceState(null, "", location.pathname);
  return code;
}

/**
 * @param {string} code
 * @returns {Promise<boolean>}
 */
async function tryLogin(code) {
  try {
    await login(code);
    page.loginProblem.textContent = "";
    return true;
  } catch (error) {
    lock();
    page.loginProblem.textContent = error instanceof ApiError && error.status === 401
      ? "This code does not work: it was used, it is too old, or it is mistyped. Ask for a new one."
      : "Logging in did not work. Try again.";
    return false;
  }
}

/** Shows the login where the service asks for one, else the conversation: asking tells what else is wrong. */
async function enter() {
  try {
    page.logout.hidden = !(await session()).session;
  } catch (error) {
    page.logout.hidden = true;
    if (error instanceof ApiError && error.status === 401) return lock();
  }
  unlock();
  waiting.start();
}

function lock() {
  waiting.stop();
  page.login.hidden = false;
  page.welcome.hidden = true;
  page.composer.hidden = true;
  page.logout.hidden = true;
  page.loginCode.focus();
}

function unlock() {
  page.login.hidden = true;
  page.composer.hidden = false;
  const begun = page.turns.childElementCount > 0;
  page.welcome.hidden = begun;
  page.conversation.hidden = !begun;
  page.fresh.hidden = !begun;
  focusQuestion();
}

/** On a phone the keyboard would cover half of the page that nobody has read yet. */
function focusQuestion() {
  if (window.matchMedia("(hover: hover)").matches) page.question.focus();
}

/** @param {string} question */
async function pose(question) {
  if (current !== null || question.trim() === "") return;
  const turn = new Turn(question.trim(), {
    session: conversation,
    joined: (id) => { if (current === turn) conversation = id; },
    again: (text) => pose(text),
    locked: () => { page.question.value = question; lock(); },
  });
  current = turn;
  page.turns.append(turn.element);
  page.question.value = "";
  unlock();
  working(true);
  turn.element.scrollIntoView({ block: "start" });
  await turn.run();
  if (current !== turn) return;
  current = null;
  working(false);
}

/** @param {boolean} busy */
function working(busy) {
  page.send.hidden = busy;
  page.stop.hidden = !busy;
  page.turns.setAttribute("aria-busy", String(busy));
}

function startOver() {
  current?.stop();
  current = null;
  conversation = "";
  page.turns.replaceChildren();
  working(false);
  unlock();
  announce("New conversation");
}

page.form.addEventListener("submit", (event) => {
  event.preventDefault();
  pose(page.question.value);
});

page.question.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  page.form.requestSubmit();
});

page.stop.addEventListener("click", () => {
  current?.stop();
  focusQuestion();
});

page.fresh.addEventListener("click", startOver);

page.examples.addEventListener("click", (event) => {
  if (event.target instanceof HTMLButtonElement) pose(event.target.textContent ?? "");
});

page.loginForm.addEventListener("submit", async (event) => {
  event.preventDefault();
  const code = page.loginCode.value.trim();
  page.loginCode.value = "";
  if (await tryLogin(code)) await enter();
});

page.logout.addEventListener("click", async () => {
  try {
    await logout();
  } catch {
    announce("Logging out did not work");
    return;
  }
  startOver();
  await enter();
});
