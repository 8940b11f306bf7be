// What a page must fulfil for people who cannot see it, see it badly, or use a keyboard. These functions run inside the
// page and return what is wrong.

/** Lists texts whose colour is too close to their ground: 4.5 to 1, or 3 to 1 for large letters. */
export function contrasts() {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const paint = canvas.getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    paint.clearRect(0, 0, 1, 1);
    paint.fillStyle = color;
    paint.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = paint.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, ground) => [0, 1, 2].map((i) => top[i] * top[3] + ground[i] * (1 - top[3])).concat(1);
  const ground = (element) => {
    if (!element) return rgba("Canvas");
    const own = rgba(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own : over(own, ground(element.parentElement));
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const bad = [];
  const judge = (element, style, what) => {
    const behind = ground(element);
    const [high, low] = [light(over(rgba(style.color), behind)), light(behind)].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700;
    if (ratio < (large ? 3 : 4.5)) bad.push(`${what}: ${ratio.toFixed(2)}`);
  };
  let count = 0;
  for (const element of document.body.querySelectorAll("*")) {
    if (!element.checkVisibility({ visibilityProperty: true })) continue;
    if ([...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim() !== "")) {
      count++;
      judge(element, getComputedStyle(element), element.textContent.trim().slice(0, 40));
    }
    if (element.matches("textarea, input")) judge(element, getComputedStyle(element, "::placeholder"), "placeholder");
  }
  if (count < 5) bad.push(`only ${count} texts were looked at`);
  return bad;
}

/** Lists controls without a name or too small to hit, pictures without a word about them, and ids that stand twice. */
export function controls() {
  const bad = [];
  const nameOf = (element) => element.getAttribute("aria-label") ||
    (element.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent ?? "").join("") ||
    [...(element.labels ?? [])].map((label) => label.textContent).join("") || (element.matches("input, textarea") ? "" : element.textContent);
  for (const element of document.querySelectorAll("button, a[href], input, textarea, summary, [tabindex='0']")) {
    if (!element.checkVisibility({ visibilityProperty: true })) continue;
    const name = nameOf(element).trim();
    const box = element.getBoundingClientRect();
    if (name === "") bad.push("no name: " + element.outerHTML.slice(0, 80));
    if (box.width < 24 || box.height < 24) bad.push(`${name} is ${Math.round(box.width)} by ${Math.round(box.height)}`);
  }
  for (const image of document.querySelectorAll("img")) if (!image.hasAttribute("alt")) bad.push("no alt: " + image.src);
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  for (const id of new Set(ids)) if (ids.filter((other) => other === id).length > 1) bad.push("id twice: " + id);
  for (const element of document.querySelectorAll("[aria-labelledby], [aria-describedby], label[for]")) {
    const refs = ["aria-labelledby", "aria-describedby", "for"].flatMap((name) => element.getAttribute(name)?.split(" ") ?? []);
    for (const ref of refs) if (!document.getElementById(ref)) bad.push("nothing has the id " + ref);
  }
  let level = 0;
  for (const heading of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    if (!heading.checkVisibility()) continue;
    const next = Number(heading.tagName[1]);
    if (next > level + 1) bad.push("a heading is skipped before " + heading.textContent);
    level = next;
  }
  if (document.documentElement.lang !== "en") bad.push("no language");
  return bad;
}

/** Lists the landmarks that can be seen, in order. */
export function landmarks() {
  const roles = { HEADER: "banner", NAV: "navigation", MAIN: "main", FOOTER: "contentinfo", SECTION: "region", FORM: "form" };
  return [...document.querySelectorAll("header, nav, main, footer, section, form")]
    .filter((element) => element.checkVisibility())
    .map((element) => {
      const label = element.getAttribute("aria-label") ?? document.getElementById(element.getAttribute("aria-labelledby") ?? "")?.textContent ?? "";
      return (roles[element.tagName] + " " + label).trim();
    });
}
