// Uses the page in a browser, against a service that answers as it should and as it should not.

import assert from "node:assert/strict";
import { controls, contrasts, landmarks } from "./accessible.mjs";
import { browser, DESK, PHONE, sameWidth, shot, watch } from "./chromium.mjs";
import { test } from "./report.mjs";

const { OPEN, LOCKED, CONTROL, TOKEN } = process.env;
const SECRET = "TEXT-THAT-MUST-NOT-BE-SHOWN";

const control = async (path = "/") => (await fetch(CONTROL + path)).json();

/** Opens the page in a browser of its own. Whatever goes wrong inside it is remembered. */
async function open(base = OPEN + "/ui/") {
  const context = await browser.newContext({ viewport: DESK, permissions: ["clipboard-read", "clipboard-write"] });
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  const complaints = watch(page);
  await page.goto(base);
  await page.locator("#composer, #login").filter({ visible: true }).first().waitFor();
  const turn = () => page.locator(".turn").last();
  return {
    page, context, turn, complaints,
    /** Asks and waits for what comes of it. */
    async ask(question) {
      await page.fill("#question", question);
      await page.keyboard.press("Enter");
      await turn().locator(".content").waitFor();
      return turn();
    },
    /** Asks a question whose answer waits, and waits for its last status. */
    async askHeld() {
      await page.fill("#question", "held");
      await page.keyboard.press("Enter");
      await turn().getByText("Collecting evidence.").waitFor();
    },
    shot: (name) => shot(page, "page", name),
    async close() {
      await context.close();
      assert.deepEqual(complaints, []);
    },
  };
}

const shared = await open();

/** Runs a test in the one page that most share, loaded again and looked at as the options say. */
const pageTest = (name, body, { viewport = DESK, colorScheme = "light", reducedMotion = "no-preference", base = OPEN + "/ui/" } = {}) =>
  test(name, async () => {
    const { page, context, complaints, shot } = shared;
    await context.clearCookies();
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme, reducedMotion });
    await page.goto("about:blank");
    complaints.length = 0;
    await page.goto(base);
    await page.locator("#composer, #login").filter({ visible: true }).first().waitFor();
    try {
      await body(shared);
    } catch (error) {
      await shot("failed " + name).catch(() => {});
      throw error;
    }
    assert.deepEqual(complaints, []);
  });

/** Waits until the service has seen something. */
async function until(seen) {
  for (let i = 0; i < 100; i++) {
    if (seen(await control())) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail("the service did not see it: " + JSON.stringify(await control()));
}

await pageTest("the page opens ready to ask, with nothing from anywhere else", async ({ page, shot }) => {
  assert.equal(await page.title(), "FastReAct");
  assert.equal(await page.evaluate(() => document.activeElement?.id), "question");
  assert.ok(await page.locator("#welcome").isVisible());
  assert.ok(await page.locator("#login").isHidden());
  assert.ok(await page.locator("#logout").isHidden());
  const urls = await page.evaluate(() => performance.getEntriesByType("resource").map((entry) => entry.name));
  assert.ok(urls.length >= 10);
  const asked = [OPEN + "/v1/ui/session", OPEN + "/v1/approvals?status=pending&order=asc&limit=50"];
  for (const url of urls) assert.ok(url.startsWith(OPEN + "/ui/") || asked.includes(url), url);
  await shot("welcome");
});

await pageTest("the policy of the page stops scripts and styles that are not its own", async ({ page, complaints }) => {
  const [ran, blocked] = await page.evaluate(async () => {
    const violations = [];
    document.addEventListener("securitypolicyviolation", (event) => violations.push(event.effectiveDirective));
    const script = document.createElement("script");
    try {
      script.textContent = "window.ran = true";
      document.body.append(script);
    } catch { /* refused as untrusted */ }
    const style = document.createElement("style");
    style.textContent = "body { display: none }";
    document.head.append(style);
    try {
      document.body.insertAdjacentHTML("beforeend", "<b>markup</b>");
    } catch { /* refused as untrusted */ }
    await fetch("http://127.0.0.2:9/").catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 100));
    return [window.ran === true || document.querySelector("b") !== null || getComputedStyle(document.body).display === "none", violations];
  });
  complaints.length = 0;
  assert.equal(ran, false);
  assert.ok(blocked.includes("connect-src"), blocked.join());
  assert.ok(blocked.includes("require-trusted-types-for"), blocked.join());
});

await pageTest("progress is shown, and nothing of the answer before it is done", async ({ page, turn, askHeld, shot }) => {
  await askHeld();
  assert.equal(await page.locator("#live").textContent(), "Collecting evidence.");
  assert.deepEqual(await turn().locator(".steps li").allTextContents(), ["Understanding the question.", "Collecting evidence."]);
  assert.equal(await turn().locator('[aria-current="step"]').textContent(), "Collecting evidence.");
  assert.equal(await turn().locator(".content").count(), 0);
  assert.ok(await page.locator("#stop").isVisible());
  assert.ok(await page.locator("#send").isHidden());
  await shot("progress");
  await page.fill("#question", "answer");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator(".turn").count(), 1, "a second question waits for the first");
  await control("/release");
  await turn().locator(".content").waitFor();
  assert.equal(await turn().locator(".content").textContent(), "The answer that was held.");
  assert.equal(await page.locator("#live").textContent(), "The answer is there");
  assert.equal(await page.locator(".progress").count(), 0);
  assert.ok(await page.locator("#send").isVisible());
});

await pageTest("an answer is shown once, as text, and the next question goes to its session", async ({ page, turn, ask, shot }) => {
  await control("/forget");
  await ask("answer");
  assert.deepEqual(await turn().locator(".content p").allTextContents(), ["A first line.", "A second one with <b>no markup</b> <img src=x onerror=alert(1)> 決済."]);
  assert.equal(await page.locator(".content").count(), 1);
  assert.equal(await page.locator(".content img, .content b").count(), 0);
  await ask("answer");
  await shot("answer");
  await page.click("#fresh");
  assert.equal(await page.locator(".turn").count(), 0);
  await ask("answer");
  const { chats } = await control();
  assert.deepEqual(chats, [{ query: "answer" }, { query: "answer", session_id: "session-7" }, { query: "answer" }]);
});

await pageTest("a report shows findings, cause, actions and evidence, and findings lead to their evidence", async ({ page, turn, ask, shot }) => {
  await ask("report");
  await shot("report");
  assert.deepEqual(await turn().locator("h4").allTextContents(), ["Findings", "Likely cause", "Recommended actions", "Evidence"]);
  assert.deepEqual(await turn().locator(".severity").allTextContents(), ["Critical", "Warning", "Info"]);
  assert.equal(await turn().locator(".actions li").count(), 3);
  assert.equal(await turn().locator(".evidence li").count(), 3);
  assert.deepEqual(await turn().locator(".evidence code").allTextContents(), ["m-1", "l-1", "q-1"]);
  await turn().getByRole("link", { name: "Evidence 3" }).click();
  const target = await page.evaluate(() => document.querySelector(":target")?.textContent ?? "");
  assert.ok(target.includes("Database shop: 3 rows"), target);
  await shot("report evidence");
}, { reducedMotion: "reduce" });

await pageTest("a report is copied as text", async ({ page, turn, ask }) => {
  await ask("report");
  await turn().getByRole("button", { name: "Copy" }).click();
  await turn().getByRole("button", { name: "Copied" }).waitFor();
  const text = await page.evaluate(() => navigator.clipboard.readText());
  assert.ok(text.startsWith("# Diagnosis\n\nThe checkout answers slowly"), text);
  assert.ok(text.includes("- **Critical** The 95th percentile"), text);
  assert.ok(text.includes("- [q-1] mysql: Database shop: 3 rows (2026-11-30T16:52:12Z)"), text);
});

await pageTest("a fallback says that there is no checked answer", async ({ turn, ask, shot }) => {
  await ask("fallback");
  assert.equal(await turn().locator("h3").textContent(), "No checked answer");
  assert.equal(await turn().locator(".content p").textContent(), "There is no answer that the collected evidence carries. Ask more precisely, or look at the evidence yourself.");
  assert.equal(await turn().locator(".severity").count(), 0);
  await shot("fallback");
});

await pageTest("a failure shows its code and sentence, and can be asked again", async ({ page, turn, ask, shot }) => {
  await ask("failure");
  assert.equal(await turn().locator(".failure code").textContent(), "CHAT_MODEL_UNAVAILABLE");
  assert.ok((await turn().locator(".failure").textContent()).includes("The language model cannot be reached at the moment."));
  assert.equal(await turn().locator(".feedback").count(), 0);
  await shot("failure");
  await turn().getByRole("button", { name: "Ask again" }).click();
  await page.locator(".turn").nth(1).locator(".failure").waitFor();
});

await pageTest("whatever breaks the contract shows a failure and nothing of the answer", async ({ page, turn, ask, shot }) => {
  const { violations } = await control();
  assert.ok(violations.length >= 30);
  for (const name of violations.sort()) {
    await ask(name);
    assert.equal(await turn().locator(".failure h3").textContent(), "The answer was not shown", name);
    assert.ok(!(await page.content()).includes(SECRET), name);
    assert.equal(await turn().locator(".feedback, .answer, .report, .fallback").count(), 0, name);
    if (name === "content twice") await shot("violation");
    await page.click("#fresh");
  }
});

await pageTest("what is no event stream is not read as an answer", async ({ page, turn, ask }) => {
  for (const type of ["application/json", "text/html", "text/event-stream2", "text/event-stream; charset=latin1", ""]) {
    await ask("type " + type);
    assert.equal(await turn().locator(".failure h3").textContent(), "The answer was not shown", type);
    assert.ok(!(await page.content()).includes(SECRET), type);
  }
  await ask("type text/event-stream; charset=UTF-8");
  assert.equal(await turn().locator(".answer").textContent(), SECRET);
});

await pageTest("a refusal is explained in the page's own words", async ({ page, turn, ask, shot }) => {
  for (const [status, sentence] of [
    [400, "did not accept"], [403, "may not ask"], [404, "not answer questions here"], [406, "could not take"],
    [413, "too long"], [429, "Too many questions"], [500, "could not take"], [503, "busy at the moment. Try again in 7 s."],
  ]) {
    await ask("status " + status);
    const text = await turn().locator(".failure").textContent();
    assert.ok(text.includes(sentence) && text.includes("HTTP " + status), text);
    assert.equal(await turn().locator(".trace").count(), 0);
    assert.ok(!(await page.content()).includes(SECRET));
  }
  await shot("refused");
});

await pageTest("a connection that breaks releases nothing", async ({ page, turn, ask }) => {
  await ask("broken");
  assert.equal(await turn().locator(".failure h3").textContent(), "The connection broke");
  assert.ok(!(await page.content()).includes(SECRET));
});

await pageTest("a connection that stays open behind done does not keep the answer back", async ({ turn, ask }) => {
  await ask("open end");
  assert.equal(await turn().locator(".answer").textContent(), "The answer of a connection that stays.");
  await until((seen) => seen.left > 0);
});

await pageTest("stop disconnects", async ({ page, turn, askHeld, ask, shot }) => {
  await control("/forget");
  await askHeld();
  await page.getByRole("button", { name: "Stop" }).click();
  await turn().locator(".stopped").waitFor();
  await until((seen) => seen.left === 1);
  await shot("stopped");
  assert.equal(await page.evaluate(() => document.activeElement?.id), "question");
  await ask("answer");
  assert.equal(await page.locator(".answer").count(), 1);
});

await pageTest("a new conversation disconnects the old one, whose answer never comes", async ({ page, askHeld, ask }) => {
  await control("/forget");
  await askHeld();
  await page.click("#fresh");
  await until((seen) => seen.left === 1);
  await ask("answer");
  assert.equal(await page.locator(".turn").count(), 1);
});

await pageTest("a page that is left disconnects", async ({ page, askHeld }) => {
  await control("/forget");
  await askHeld();
  await page.goto("about:blank");
  await until((seen) => seen.left === 1);
});

await pageTest("a trace is read when somebody opens it", async ({ page, turn, ask, shot }) => {
  await control("/forget");
  await ask("answer");
  assert.equal((await control()).traces, 0);
  await turn().getByText("Trace", { exact: true }).click();
  await turn().getByText("query_metrics").waitFor();
  const facts = (await turn().locator(".trace dl").innerText()).replace(/\s+/g, " ");
  for (const fact of ["Run run-42", "Session session-7", "Status completed", "Took 12 s", "query_metrics × 2", "Model tokens 4711"]) {
    assert.ok(facts.includes(fact), `${fact} in ${facts}`);
  }
  assert.equal(await turn().getByRole("link").getAttribute("href"), "/v1/traces/run-42");
  await shot("trace");
});

await pageTest("feedback goes to the run, and the last word counts", async ({ turn, ask, shot }) => {
  await control("/forget");
  await ask("answer");
  await turn().getByRole("button", { name: "Helpful", exact: true }).click();
  await turn().getByText("Thank you.").waitFor();
  await turn().getByRole("button", { name: "Not helpful" }).click();
  await turn().getByRole("textbox").fill("The index was there.");
  await turn().getByRole("button", { name: "Send comment" }).click();
  await turn().getByText("the comment is stored").waitFor();
  assert.equal(await turn().getByRole("button", { name: "Not helpful" }).getAttribute("aria-pressed"), "true");
  assert.equal(await turn().getByRole("button", { name: "Helpful", exact: true }).getAttribute("aria-pressed"), "false");
  const ids = { run_id: "run-42", session_id: "session-7" };
  assert.deepEqual((await control()).feedback, [
    { ...ids, rating: "up" }, { ...ids, rating: "down" }, { ...ids, rating: "down", comment: "The index was there." },
  ]);
  await shot("feedback");
});

/** Opens the page where two calls wait for a person. */
async function withWaiting(page) {
  await control("/forget");
  await control("/wait");
  await page.reload();
  await page.locator(".waiting-call").nth(1).waitFor();
  return page.locator(".waiting-call");
}

await pageTest("where nothing waits for a person nothing says so", async ({ page }) => {
  assert.ok(await page.locator("#waiting").isHidden());
});

await pageTest("a call of which nobody knows whether it took effect offers three choices", async ({ page, shot }) => {
  const card = (await withWaiting(page)).nth(1);
  assert.equal(await card.locator(".unknown").textContent(), "This call left, and nobody knows whether it took effect. What now?");
  assert.deepEqual(await card.getByRole("button").allTextContents(), ["Run it again", "It took effect, go on", "End the run"]);
  assert.ok((await card.textContent()).includes("Whether <img src=x onerror=alert(1)> send_mail took effect is not known."));
  assert.equal(await page.locator("#waiting img, #waiting b").count(), 0);
  await shot("waiting");
  await card.getByRole("button", { name: "It took effect, go on" }).click();
  await card.getByText("Answered: It took effect, go on.").waitFor();
  assert.equal(await card.getByRole("button").count(), 0);
  const [answer] = (await control()).settled;
  assert.deepEqual([answer.path, answer.body], ["/v1/approvals/approval-2/approve", { choice: "treat_as_done" }]);
  assert.match(answer.key, /^[0-9a-f]{32}$/);
  await shot("waiting answered");
});

for (const [label, path, body] of [
  ["Run it again", "/v1/approvals/approval-2/approve", { choice: "retry" }],
  ["End the run", "/v1/approvals/approval-2/deny", { choice: "abort" }],
]) {
  await pageTest(`"${label}" says what it does`, async ({ page }) => {
    await (await withWaiting(page)).nth(1).getByRole("button", { name: label }).click();
    await page.getByText(`Answered: ${label}.`).first().waitFor();
    const [answer] = (await control()).settled;
    assert.deepEqual([answer.path, answer.body], [path, body]);
  });
}

await pageTest("the arguments of a call are shown exactly as they would run", async ({ page }) => {
  const cards = await withWaiting(page);
  assert.equal(await cards.nth(0).locator("pre").textContent(),
    '{\n  "command": "rm -r build",\n  "times": 1.0,\n  "limit": 12345678901234567890\n}');
  assert.equal(await cards.nth(1).locator("pre").textContent(), '{\n  "to": "ann\\u{202e}txt.exe",\n  "text": "<b>hi</b>"\n}');
});

await pageTest("a permission is given or refused, and a refusal by the service is explained", async ({ page }) => {
  const card = (await withWaiting(page)).nth(0);
  assert.deepEqual(await card.getByRole("button").allTextContents(), ["Let it run", "Refuse"]);
  await card.getByRole("button", { name: "Refuse" }).click();
  await card.getByText("Somebody else must answer this call.").waitFor();
  await card.getByRole("button", { name: "Let it run" }).click();
  await card.getByText("Answered: Let it run.").waitFor();
  const { settled } = await control();
  assert.deepEqual(settled.map(({ path, body }) => [path, body]), [["/v1/approvals/approval-1/deny", {}], ["/v1/approvals/approval-1/approve", {}]]);
  assert.notEqual(settled[0].key, settled[1].key);
});

await pageTest("an answer that may not have arrived is sent again under its key", async ({ page }) => {
  const card = (await withWaiting(page)).nth(1);
  await control("/break");
  await card.getByRole("button", { name: "Run it again" }).click();
  const problem = card.getByText("The answer may not have arrived. Try again: it counts once.");
  const said = card.getByText("Answered: Run it again.");
  await problem.or(said).waitFor(); // a browser may repeat a request by itself
  if (await problem.isVisible()) await card.getByRole("button", { name: "Run it again" }).click();
  await said.waitFor();
  const { settled } = await control();
  assert.equal(settled.length, 2);
  assert.deepEqual(settled[0], settled[1]);
});

for (const [device, viewport] of [["desk", DESK], ["phone", PHONE]]) {
  await pageTest(`what waits is right on a ${device}: names, contrast and width`, async ({ page, shot }) => {
    await withWaiting(page);
    assert.deepEqual(await page.evaluate(contrasts), []);
    assert.deepEqual(await page.evaluate(controls), []);
    assert.ok(await sameWidth(page));
    await shot("waiting dark " + device);
    await control("/forget");
  }, { colorScheme: "dark", viewport });
}

await pageTest("everything is done with the keyboard alone", async ({ page, turn }) => {
  const focused = () => page.evaluate(() => {
    const element = document.activeElement;
    return element?.id || element?.textContent?.trim() || "";
  });
  const tabTo = async (wanted, key = "Tab") => {
    for (let i = 0; i < 30; i++) {
      await page.keyboard.press(key);
      if ((await focused()) === wanted) return;
    }
    assert.fail("no way to " + wanted);
  };
  await tabTo("Skip to the question", "Shift+Tab");
  assert.ok(await page.evaluate(() => document.activeElement.getBoundingClientRect().top >= 0), "the skip link is seen");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement?.id === "question");
  await page.keyboard.type("rep");
  await page.keyboard.press("Shift+Enter");
  assert.equal(await page.inputValue("#question"), "rep\n");
  await page.keyboard.press("Backspace");
  await page.keyboard.type("ort");
  await page.keyboard.press("Enter");
  await turn().locator(".report").waitFor();
  await tabTo("Trace", "Shift+Tab");
  await page.keyboard.press("Enter");
  await turn().getByText("query_metrics").waitFor();
  await tabTo("Helpful", "Shift+Tab");
  const ring = await page.evaluate(() => getComputedStyle(document.activeElement).outlineWidth);
  assert.ok(parseFloat(ring) >= 2, "a ring of " + ring);
  await page.keyboard.press("Space");
  await turn().getByText("Thank you.").waitFor();
  await tabTo("1", "Shift+Tab");
  await page.keyboard.press("Enter");
  assert.ok(await page.evaluate(() => document.querySelector(":target") !== null));
  await page.focus("#question");
  await page.keyboard.type("held");
  await page.keyboard.press("Enter");
  await page.locator("#stop").waitFor();
  await tabTo("stop");
  await page.keyboard.press("Enter");
  await turn().locator(".stopped").waitFor();
});

for (const colorScheme of ["light", "dark"]) {
  for (const [device, viewport] of [["desk", DESK], ["phone", PHONE]]) {
    await pageTest(`${colorScheme} on a ${device}: names, landmarks, contrast and width are right in every state`, async ({ page, turn, ask, askHeld, shot }) => {
      const check = async (state) => {
        assert.deepEqual(await page.evaluate(contrasts), [], state);
        assert.deepEqual(await page.evaluate(controls), [], state);
        assert.ok(await sameWidth(page), state + " is wider than the window");
        if (colorScheme === "dark" || device === "phone") await shot(`${state} ${colorScheme} ${device}`);
      };
      assert.deepEqual(await page.evaluate(landmarks), ["banner", "navigation Conversation", "main", "region What is going wrong?", "contentinfo", "form Ask"]);
      await check("welcome");
      await ask("report");
      await turn().getByText("Trace", { exact: true }).click();
      await turn().getByText("query_metrics").waitFor();
      await turn().getByRole("button", { name: "Not helpful" }).click();
      await turn().getByText("Thank you.").waitFor();
      await check("report");
      await page.click("#fresh");
      for (const state of ["fallback", "failure", "done twice"]) await ask(state);
      await askHeld();
      await check("troubles");
      await page.click("#stop");
      await turn().locator(".stopped").waitFor();
      await check("stopped");
    }, { colorScheme, viewport });
  }
}

await pageTest("nothing moves for who does not want it", async ({ page, askHeld }) => {
  await askHeld();
  const durations = await page.evaluate(() => document.getAnimations().map((animation) => animation.effect?.getTiming().duration));
  assert.ok(durations.every((duration) => duration === 0), durations.join());
  await page.click("#stop");
}, { reducedMotion: "reduce" });

await pageTest("long words and long answers do not widen a phone", async ({ page, ask }) => {
  await ask("x".repeat(3000));
  assert.ok(await sameWidth(page));
}, { viewport: { width: 320, height: 640 } });

// Where a login is needed.

const newCode = async () => (await (await fetch(LOCKED + "/v1/ui/codes", {
  method: "POST", headers: { Authorization: "Bearer " + TOKEN },
})).json()).path;

await pageTest("without a login there is nothing to ask with", async ({ page, shot }) => {
  assert.ok(await page.locator("#composer").isHidden());
  assert.ok(await page.getByRole("heading", { name: "Log in" }).isVisible());
  assert.equal(await page.evaluate(() => document.activeElement?.id), "login-code");
  assert.deepEqual(await page.evaluate(contrasts), []);
  assert.deepEqual(await page.evaluate(controls), []);
  await page.fill("#login-code", "wrong");
  await page.keyboard.press("Enter");
  await page.getByText("This code does not work").waitFor();
  await shot("login");
}, { base: LOCKED + "/ui/" });

await test("a one-time code logs in, leaves the address, and is of no use to another", async () => {
  const address = LOCKED + (await newCode());
  const view = await open(address);
  await view.ask("answer");
  assert.equal(view.page.url(), LOCKED + "/ui/");
  assert.equal(await view.page.evaluate(() => document.cookie), "");
  const [cookie] = await view.context.cookies();
  assert.deepEqual([cookie.name, cookie.httpOnly, cookie.sameSite, cookie.path], ["fastreact_ui", true, "Strict", "/"]);
  const thief = await open(address);
  await thief.page.getByText("This code does not work").waitFor();
  await thief.close();
  await view.page.goto("about:blank");
  await view.page.goto(address); // the same link again, in the browser that is logged in
  await view.ask("answer");
  await view.page.setViewportSize(PHONE);
  assert.ok(await sameWidth(view.page));
  assert.ok(await view.page.evaluate(() => document.querySelector("header").offsetHeight < 64), "the bar has one line");
  assert.ok(await view.page.getByRole("button", { name: "New conversation" }).isVisible());
  await view.shot("logged in phone");
  await view.close();
});

await test("two tabs share a login; logging out in one ends both, and the question is kept", async () => {
  const view = await open(LOCKED + (await newCode()));
  const other = await view.context.newPage();
  await other.goto(LOCKED + "/ui/");
  await other.locator("#question").waitFor();
  await view.page.click("#logout");
  await view.page.getByRole("heading", { name: "Log in" }).waitFor();
  await other.fill("#question", "a question that is kept");
  await other.keyboard.press("Enter");
  await other.getByRole("heading", { name: "Log in", exact: true }).waitFor();
  await view.shot("logged out");
  await other.fill("#login-code", (await newCode()).split("=")[1]);
  await other.keyboard.press("Enter");
  await other.locator("#question").waitFor();
  assert.equal(await other.inputValue("#question"), "a question that is kept");
  await view.close();
});

await test("the service token never came from a browser", async () => {
  assert.equal((await control()).tokens, 0);
});

await browser.close();
