// Starts the browser, watches pages for what goes wrong inside them, and takes pictures of them.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";

const { CHROMIUM, FASTREACT_ARTIFACTS } = process.env;

export const DESK = { width: 1100, height: 900 };
export const PHONE = { width: 360, height: 740 };

/** The one browser of a test program, which must close it. */
export const browser = await chromium.launch({
  executablePath: CHROMIUM,
  args: [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
  ],
});

/**
 * Remembers errors of scripts and of the console, and dialogs, which it closes.
 * @param {import("playwright-core").Page} page
 * @returns {string[]}
 */
export function watch(page) {
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => {
    complaints.push("dialog " + dialog.message());
    dialog.dismiss().catch(() => {});
  });
  page.on("console", (message) => {
    // The browser itself notes answers that are no success.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) complaints.push(message.text());
  });
  return complaints;
}

/**
 * Takes a picture of the whole page where artifacts are wanted.
 * @param {import("playwright-core").Page} page
 * @param {string} folder
 * @param {string} name
 */
export async function shot(page, folder, name) {
  if (!FASTREACT_ARTIFACTS) return;
  mkdirSync(join(FASTREACT_ARTIFACTS, folder), { recursive: true });
  const size = page.viewportSize();
  const height = Math.max(size.height, await page.evaluate(() => document.documentElement.scrollHeight));
  await page.setViewportSize({ ...size, height });
  await page.screenshot({ path: join(FASTREACT_ARTIFACTS, folder, name.replace(/[^a-z0-9]+/gi, "-") + ".png"), animations: "allow" });
  await page.setViewportSize(size);
}

/** Whether nothing is wider than the window. */
export const sameWidth = (page) => page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);
