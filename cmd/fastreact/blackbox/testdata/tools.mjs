// Uses the page of the agent tools of a real service in a browser.

import assert from "node:assert/strict";
import { browser, DESK, PHONE, sameWidth, shot as picture, watch } from "./chromium.mjs";
import { test } from "./report.mjs";

const { LAUNCH, PROVIDER } = process.env;

const page = await browser.newPage({ viewport: DESK });
page.setDefaultTimeout(60_000);
const complaints = watch(page);
const elsewhere = [];
page.on("request", (request) => {
  if (new URL(request.url()).origin !== new URL(LAUNCH).origin) elsewhere.push(request.url());
});
const shot = (name) => picture(page, "agent-tools-service", name);
const kinds = () => page.locator(".turn").first().locator(".event .kind").allTextContents();
const contacts = async () => Number(await (await fetch(PROVIDER + "/count")).text());
const badge = (state) => page.locator(".turn").first().locator(".badge .chip").filter({ hasText: state }).waitFor();
const DEMO = ["Turn started", "Plan", ...Array(5).fill(["Tool requested", "Tool started", "Tool completed"]).flat(), "A person has to decide"];

async function start(objective, least) {
  await page.fill("#objective", objective);
  await page.keyboard.press("Enter");
  await page.locator(".turn").first().locator(".event").nth(least - 1).waitFor();
}

await test("the launch address opens the page with the nine tools", async () => {
  await page.goto(LAUNCH);
  await page.locator(".tool").nth(8).waitFor();
  assert.equal(await page.locator(".tool").count(), 9);
  assert.equal(new URL(page.url()).search, "");
  await page.locator(".tool .chip.good").nth(8).waitFor();
});

await test("a tool is called by hand with what its schema asks for", async () => {
  const tool = page.locator(".tool").first();
  await tool.locator("summary").first().click();
  await tool.getByLabel("query").fill("harbour");
  await tool.getByRole("button", { name: "Call" }).click();
  await tool.locator(".result").waitFor();
  assert.ok(await page.locator(".object").count() > 0);
  assert.ok(await page.locator(".object.lit").count() > 0);
  await tool.locator("summary").first().click();
});

await test("a turn tells eighteen events and waits; nothing is granted and nobody contacted", async () => {
  await start("harbour", 18);
  assert.deepEqual(await kinds(), DEMO);
  await badge("AUTHORIZATION_REQUIRED");
  await page.locator(".action").nth(2).waitFor();
  assert.equal(await page.locator(".grant").count(), 0);
  assert.equal(await contacts(), 0);
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByText("(agent_turn_not_granted)").waitFor();
  await shot("waiting");
});

await test("a person grants one action, its provider is asked once, and the turn ends with its twenty-second event", async () => {
  await page.locator(".action").first().getByLabel("Authorise").check();
  await page.click("#review");
  await shot("decision");
  assert.equal(await contacts(), 0);
  await page.click("#decide-confirm");
  await page.locator(".came .chip").filter({ hasText: "NEW" }).waitFor();
  assert.equal(await contacts(), 1);
  await page.getByRole("button", { name: "Resume" }).click();
  await badge("COMPLETED");
  await page.locator(".turn").first().locator(".event").nth(21).waitFor();
  assert.deepEqual(await kinds(), [...DEMO, "Tool requested", "Tool started", "Tool completed", "Turn completed"]);
  await shot("completed");
});

await test("in a hostile workspace the same turn tells the same events, and its texts stay texts", async () => {
  await page.selectOption("#workspace", "hostile");
  await page.getByRole("button", { name: "Switch" }).click();
  await page.locator("#no-turns").waitFor();
  assert.equal(await page.locator(".event").count(), 0);
  await start("Hostile", 18);
  assert.deepEqual(await kinds(), DEMO);
  const results = page.locator(".event").getByRole("button", { name: "Result" });
  for (let i = 0; i < await results.count(); i++) {
    await results.nth(i).click();
    await page.locator(".result").nth(i).waitFor();
  }
  await page.locator(".action").nth(2).waitFor();
  for (let i = 0; i < 3; i++) assert.ok(await page.locator(".action").nth(i).getByLabel("Defer").isChecked());
  assert.equal(await page.title(), "FastReAct agent tools");
  const strange = await page.evaluate(() => [...new Set([...document.querySelectorAll("#desk *")].map((element) => element.tagName))].filter((tag) =>
    !"DIV,P,NAV,A,SECTION,H2,H3,FORM,LABEL,TEXTAREA,FIELDSET,LEGEND,INPUT,SPAN,BDI,BUTTON,OL,UL,LI,DL,DT,DD,CODE,TIME,DETAILS,SUMMARY,PRE,SELECT,OPTION,DATALIST".split(",").includes(tag)));
  assert.deepEqual(strange, []);
  assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll("#desk [onerror], #desk [onload], #desk [style]:not(input, textarea), #desk [href]:not(nav a)")].map((one) => one.tagName + one.getAttributeNames())), []);
  assert.ok(!/[\u001b\u202a-\u202e\u2066-\u2069]/.test(await page.locator("#desk").innerText()), "what steers is written out");
  assert.ok(await sameWidth(page));
  assert.equal(await contacts(), 1);
  await shot("hostile");
});

await test("on a phone in the dark the agent runtime works on a hostile objective, and is cancelled", async () => {
  await page.setViewportSize(PHONE);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.getByLabel("Agent runtime").check();
  await page.fill("#objective", "Hostile");
  await page.keyboard.press("Enter");
  await badge("AUTHORIZATION_REQUIRED");
  assert.ok(await sameWidth(page));
  await shot("runtime");
  await page.locator(".turn").first().getByRole("button", { name: "Cancel" }).click();
  await badge("CANCELLED");
  assert.deepEqual(complaints, []);
  assert.deepEqual(elsewhere, []);
});

await browser.close();
