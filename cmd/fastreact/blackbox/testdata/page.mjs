// Uses the page of a real service in a browser.

import assert from "node:assert/strict";
import { browser, shot as picture } from "./chromium.mjs";
import { test } from "./report.mjs";

const { LOGIN, SERVICE, TOKEN } = process.env;

const page = await browser.newPage({ viewport: { width: 390, height: 844 }, colorScheme: "dark" });
page.setDefaultTimeout(60_000);
const sent = [];
page.on("request", async (request) => sent.push(request.method() + " " + new URL(request.url()).pathname, JSON.stringify(await request.allHeaders())));
const turn = () => page.locator(".turn").last();

async function ask(question) {
  await page.fill("#question", question);
  await page.keyboard.press("Enter");
  await turn().locator(".content").waitFor();
}

const shot = (name) => picture(page, "service", name);

await test("a code of the command line logs in, and a report with its evidence comes", async () => {
  await page.goto(LOGIN);
  await page.locator("#question").waitFor();
  assert.equal(page.url(), SERVICE + "/ui/");
  await ask("Diagnose the slow checkout");
  await shot("report");
  assert.equal(await turn().locator(".statement").count(), 1, await turn().innerText());
  assert.ok((await turn().locator(".statement").textContent()).startsWith("The checkout timed out after 2400 ms."));
  assert.equal(await turn().locator(".evidence li").count(), 1);
});

await test("its trace is read and its rating stored", async () => {
  await turn().getByText("Trace", { exact: true }).click();
  await turn().getByText("query_logs").waitFor();
  await turn().getByRole("button", { name: "Helpful", exact: true }).click();
  await turn().getByText("Thank you.").waitFor();
  await shot("trace");
});

await test("a greeting gets an answer", async () => {
  await ask("Hello");
  assert.equal(await turn().locator(".answer").textContent(), "Hello. Tell me what is slow or broken.");
});

await test("a report with an invented number becomes the fallback", async () => {
  await ask("Diagnose the rumour about the checkout");
  await shot("fallback");
  assert.equal(await turn().locator(".fallback").count(), 1, await turn().innerText());
  assert.ok(!(await page.content()).includes("9999"));
});

await test("a model that fails is a failure without its words", async () => {
  await ask("Diagnose the outage of the model");
  await shot("failure");
  assert.equal(await turn().locator(".failure code").textContent(), "CHAT_MODEL_UNAVAILABLE");
  assert.ok(!(await page.content()).includes("vendor-error-8812"));
});

await test("stop cancels the run, and the token was never in the browser", async () => {
  await page.fill("#question", "Diagnose the unending outage");
  await page.keyboard.press("Enter");
  await turn().locator(".steps [aria-current]").filter({ hasNotText: "Asking" }).waitFor();
  await page.click("#stop");
  await turn().locator(".stopped").waitFor();
  await shot("stopped");
  const runID = await (async () => {
    await turn().getByText("Trace", { exact: true }).click();
    return turn().locator("dd code").first().textContent();
  })();
  for (let i = 0, status = ""; status !== "cancelled"; i++) {
    assert.ok(i < 200, "the run is " + status);
    const answer = await fetch(`${SERVICE}/v1/runs/${runID}`, { headers: { Authorization: "Bearer " + TOKEN } });
    status = (await answer.json()).status;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.ok(sent.includes("POST /api/chat") && !sent.join().includes(TOKEN));
});

await browser.close();
