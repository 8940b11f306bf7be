// Drives the reader of frames and the state machine with everything that can go wrong on a wire.

import assert from "node:assert/strict";
import { FrameReader, Violation } from "./page/frames.js";
import { Protocol } from "./page/protocol.js";
import { random, test } from "./report.mjs";

const metadata = ["metadata", { session_id: "session-1", run_id: "run-1" }];
const status = (code) => ["status", { code, message: "Looking — 見て…" }];
const report = {
  summary: "The checkout is slow: 決済 🚦",
  findings: [
    { statement: "p95 is 2.4 s", severity: "critical", evidence_ids: ["m-1", "l-1"] },
    { statement: "nothing else", severity: "info", evidence_ids: [] },
  ],
  likely_cause: "A missing index",
  recommended_actions: ["Add the index", "Watch it"],
  evidence: [
    { evidence_id: "m-1", source: "metrics", title: "Latency: 1 series", observed_at: "2026-11-30T17:00:00Z" },
    { evidence_id: "l-1", source: "logs", title: "12 lines", observed_at: "2026-11-30T17:00:00.5+01:00" },
  ],
};
const content = (content_type, payload) => ["content", { content_type, payload }];
const answer = content("ANSWER", { text: "Hello — 你好 👋" });
const diagnosis = content("DIAGNOSIS_REPORT", report);
const fallback = content("FALLBACK", { text: "No checked answer." });
const failure = ["failure", { code: "CHAT_TIMEOUT", message: "It took too long." }];
const done = (outcome) => ["done", { outcome }];

const transcripts = {
  answer: [metadata, status("ROUTING"), answer, done("SUCCESS")],
  report: [
    metadata, status("ROUTING"), status("PLANNING"), status("COLLECTING_EVIDENCE"), status("ANALYZING"),
    status("VERIFYING"), status("REPAIRING"), status("VERIFYING"), diagnosis, done("SUCCESS"),
  ],
  fallback: [metadata, status("VERIFYING"), fallback, done("FALLBACK")],
  failure: [metadata, failure, done("FAILED")],
};

const encoder = new TextEncoder();
const frameOf = ([event, data]) => `event: ${event}\ndata: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
const textOf = (events) => events.map(frameOf).join("");
const bytesOf = (events) => encoder.encode(textOf(events));

/** Reads chunks to the end and returns all that was heard, or throws. */
function read(chunks, limit) {
  const heard = [];
  const frames = new FrameReader(limit);
  const protocol = new Protocol({ metadata: (m) => heard.push(m), status: (s) => heard.push(s) });
  for (const chunk of chunks) for (const frame of frames.push(chunk)) protocol.accept(frame);
  frames.end();
  heard.push(protocol.end());
  return heard;
}

const readText = (text) => read([encoder.encode(text)]);
const readEvents = (events) => read([bytesOf(events)]);

/** Says whether reading fails as it must; any other error is a bug. */
function violates(body) {
  try {
    body();
    return false;
  } catch (error) {
    if (error instanceof Violation) return true;
    throw error;
  }
}

const refused = (body, what) => assert.ok(violates(body), "was taken: " + what);

for (const [name, events] of Object.entries(transcripts)) {
  const bytes = bytesOf(events);
  const whole = read([bytes]);

  await test(`${name}: what was sent is what is heard`, () => {
    const [first, ...rest] = whole;
    assert.deepEqual(first, metadata[1]);
    assert.deepEqual(rest.slice(0, -1), events.filter(([event]) => event === "status").map(([, data]) => data));
    const result = rest.at(-1);
    assert.equal(result.outcome, events.at(-1)[1].outcome);
    if (result.outcome === "FAILED") assert.deepEqual(result.failure, failure[1]);
    else if (result.content.kind === "DIAGNOSIS_REPORT") assert.deepEqual(result.content.report, report);
    else assert.equal(result.content.text, events.at(-2)[1].payload.text);
  });

  await test(`${name}: every cut of the bytes reads the same`, () => {
    for (let i = 0; i <= bytes.length; i++) assert.deepEqual(read([bytes.subarray(0, i), bytes.subarray(i)]), whole);
    assert.deepEqual(read(Array.from(bytes, (_, i) => bytes.subarray(i, i + 1))), whole);
  });

  await test(`${name}: every kind of line break reads the same, cut anywhere`, () => {
    const next = random(1);
    for (let round = 0; round < 60; round++) {
      const kinds = round < 3 ? [["\n", "\r\n", "\r"][round]] : ["\n", "\r\n", "\r"];
      let last = "";
      const text = Array.from(textOf(events), (c) => {
        // An LF behind a CR would make one break of two.
        const open = last === "\r" && kinds.length > 1 ? ["\r", "\r\n"] : kinds;
        last = c === "\n" ? open[Math.floor(next() * open.length)] : c;
        return last;
      }).join("");
      const mixed = encoder.encode(text);
      for (let i = 0; round < 5 && i <= mixed.length; i++) assert.deepEqual(read([mixed.subarray(0, i), mixed.subarray(i)]), whole);
      const cut = Math.floor(next() * mixed.length);
      const again = Math.floor(next() * (mixed.length - cut));
      assert.deepEqual(read([mixed.subarray(0, cut), mixed.subarray(cut, cut + again), mixed.subarray(cut + again)]), whole);
    }
  });

  await test(`${name}: comments, empty lines and a byte order mark change nothing`, () => {
    const lines = textOf(events).split("\n");
    for (let i = 0; i < lines.length; i++) {
      assert.deepEqual(readText([...lines.slice(0, i), ": keepalive", ...lines.slice(i)].join("\n")), whole);
    }
    assert.deepEqual(readText("\ufeff" + textOf(events)), whole);
    assert.deepEqual(readText("\n\n: keepalive\n\n" + textOf(events) + ": keepalive\n\n"), whole);
  });

  await test(`${name}: an end before the end releases nothing`, () => {
    for (let i = 0; i < bytes.length; i++) refused(() => read([bytes.subarray(0, i)]), `the first ${i} bytes`);
  });

  await test(`${name}: every event that is missing, doubled, moved or swapped is noticed`, () => {
    const names = (list) => list.map(([event]) => event).join();
    const inOrder = (list) => /^metadata(,status)*,(content|failure),done$/.test(names(list));
    for (let i = 0; i < events.length; i++) {
      const without = events.toSpliced(i, 1);
      assert.equal(violates(() => readEvents(without)), !inOrder(without), "without " + i);
      for (let j = 0; j <= events.length; j++) {
        const doubled = events.toSpliced(j, 0, events[i]);
        assert.equal(violates(() => readEvents(doubled)), !inOrder(doubled), `${i} again at ${j}`);
        const moved = without.toSpliced(j, 0, events[i]);
        assert.equal(violates(() => readEvents(moved)), !inOrder(moved), `${i} moved to ${j}`);
      }
    }
  });

  await test(`${name}: an unknown event is refused wherever it stands`, () => {
    for (let i = 0; i <= events.length; i++) {
      for (const event of ["message", "error", "Content", "content ", "metadata2", "__proto__", "ping"]) {
        refused(() => readEvents(events.toSpliced(i, 0, [event, {}])), event + " at " + i);
      }
    }
  });

  await test(`${name}: every mutation of every value is refused`, () => {
    for (let i = 0; i < events.length; i++) {
      for (const [how, data] of mutations(events[i][1])) {
        refused(() => readEvents(events.with(i, [events[i][0], data])), `${events[i][0]} ${how}`);
      }
    }
  });

  await test(`${name}: noise ends in a violation or in the whole story, never in something else`, () => {
    const next = random(7);
    for (let round = 0; round < 3000; round++) {
      const noisy = bytes.slice();
      for (let n = 1 + Math.floor(next() * 3); n > 0; n--) noisy[Math.floor(next() * noisy.length)] = Math.floor(next() * 256);
      let heard;
      if (violates(() => { heard = read([noisy]); })) continue;
      assert.equal(heard.at(-1).outcome, whole.at(-1).outcome);
    }
  });
}

/** Lists how one event's data may be wrong: [how, data]. */
function* mutations(root, path = []) {
  const data = path.reduce((at, key) => at[key], root);
  const put = (value) => {
    const copy = { root: structuredClone(root) };
    const [last, ...up] = ["root", ...path].reverse();
    up.reverse().reduce((at, key) => at[key], copy)[last] = value;
    return copy.root;
  };
  const where = path.join(".") || "all of it";
  const wrong = [null, 0, 1.5, true, [], {}, "", " \n", [[]], "\u0000"];
  const kind = (v) => (Array.isArray(v) ? "list" : typeof v);
  const key = path.at(-1);
  for (const value of wrong) {
    if (Array.isArray(data) && Array.isArray(value) && value.length === 0) continue; // fewer findings are no lie
    if (kind(value) === "string" && (key === "likely_cause" || value === "\u0000" && freeText(key))) continue;
    if (value === "" && key === "likely_cause") continue;
    yield [`${where} = ${JSON.stringify(value)}`, put(value)];
  }
  if (path.length === 0) {
    for (const text of ["", "[DONE]", "null", "{", "plain words", '{"a":1}{"b":2}']) yield [JSON.stringify(text), text];
  }
  if (typeof data === "object" && data !== null) {
    if (!Array.isArray(data)) {
      yield [where + " with one key more", put({ ...data, extra: "x" })];
      yield [where + " with __proto__", JSON.stringify(put({ ...data, extra: 1 })).replace('"extra"', '"__proto__"')];
      const [first] = Object.keys(data);
      const twice = JSON.stringify(put({ ...data, extra: data[first] })).replace('"extra"', JSON.stringify(first));
      yield [where + " with a key twice", twice];
      yield [where + " with a key twice, escaped", twice.replace(`"${first}"`, `"\\u00${first.charCodeAt(0).toString(16)}${first.slice(1)}"`)];
      for (const one of Object.keys(data)) {
        const { [one]: gone, ...rest } = data;
        yield [`${where} without ${one}`, put(rest)];
        yield [`${where} with ${one} renamed`, put({ ...rest, [one.toUpperCase() + "_"]: gone })];
      }
    }
    for (const one of Object.keys(data)) yield* mutations(root, [...path, Array.isArray(data) ? Number(one) : one]);
  }
}

/** Says whether any text will do. */
function freeText(key) {
  return ["text", "summary", "statement", "message", "source", "title"].includes(key) || typeof key === "number";
}

await test("every order of up to five events is judged as the rule says", () => {
  const alphabet = [
    metadata, status("ROUTING"), answer, fallback, failure, done("SUCCESS"), done("FALLBACK"), done("FAILED"),
  ];
  const letters = "mscfxSFX";
  const allowed = /^ms*(cS|fF|xX)$/;
  const frames = alphabet.map(([event, data]) => ({ event, data: JSON.stringify(data) }));
  let count = 0;
  const walk = (word) => {
    const protocol = new Protocol({ metadata() {}, status() {} });
    const bad = violates(() => {
      for (const letter of word) protocol.accept(frames[letters.indexOf(letter)]);
      protocol.end();
    });
    assert.equal(bad, !allowed.test(word), word);
    count++;
    if (word.length < 5) for (const letter of letters) walk(word + letter);
  };
  walk("");
  assert.equal(count, (8 ** 6 - 1) / 7);
});

await test("a report whose findings cite what is not there is refused", () => {
  const cites = structuredClone(report);
  cites.findings[0].evidence_ids.push("m-2");
  refused(() => readEvents([metadata, content("DIAGNOSIS_REPORT", cites), done("SUCCESS")]), "foreign id");
  const twice = structuredClone(report);
  twice.evidence[1].evidence_id = "m-1";
  twice.findings[0].evidence_ids = ["m-1"];
  refused(() => readEvents([metadata, content("DIAGNOSIS_REPORT", twice), done("SUCCESS")]), "one id for two");
});

await test("fields that the contract does not know are refused", () => {
  for (const line of ["id: 1", "retry: 1", "event", "event:", "date: x", "data2: x", " data: x", "event: status", "event: metadata"]) {
    refused(() => readText("event: metadata\n" + line + "\n" + frameOf(metadata).split("\n").slice(1).join("\n") + textOf([answer, done("SUCCESS")])), line);
  }
});

await test("frames without a name or without data are refused", () => {
  refused(() => readText("data: {}\n\n" + textOf(transcripts.answer)), "no name");
  refused(() => readText("event: status\n\n" + textOf(transcripts.answer)), "no data");
  refused(() => readText(textOf(transcripts.answer) + "data: [DONE]\n\n"), "no name behind done");
});

await test("data on two lines is one text, and a space more or less is no matter", () => {
  const [, first] = metadata;
  const text = `event:metadata\ndata: {"session_id":"${first.session_id}",\ndata:"run_id":"${first.run_id}"}\n\n`;
  assert.deepEqual(readText(text + textOf([answer, done("SUCCESS")]))[0], first);
});

await test("bytes that are no UTF-8 are refused", () => {
  const bytes = bytesOf(transcripts.answer);
  const at = bytes.findIndex((byte) => byte >= 0x80);
  for (const bad of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0x80]]) {
    refused(() => read([bytes.subarray(0, at), Uint8Array.from(bad), bytes.subarray(at)]), bad.join());
  }
  refused(() => read([bytes, Uint8Array.from([0xe4, 0xbd])]), "half a character behind the end");
});

await test("a report of 300 KB is one event", () => {
  const long = structuredClone(report);
  long.summary = "決".repeat(100_000);
  const heard = readEvents([metadata, content("DIAGNOSIS_REPORT", long), done("SUCCESS")]);
  assert.equal(heard.at(-1).content.report.summary, long.summary);
});

await test("a frame that does not end is given up at its bound, however it is cut", () => {
  const limit = 1000;
  for (const size of [1, 7, 512, 5000]) {
    const frames = new FrameReader(limit);
    const piece = encoder.encode("data: " + "x".repeat(size));
    let pushed = 0;
    refused(() => { for (;;) { frames.push(piece); pushed += piece.length; assert.ok(pushed < 2 * limit + 2 * piece.length); } }, "size " + size);
    const lines = new FrameReader(limit);
    pushed = 0;
    refused(() => { for (;;) { lines.push(encoder.encode("data: " + "x".repeat(size) + "\n")); pushed += size; assert.ok(pushed < 2 * limit + 2 * size); } }, "lines of " + size);
  }
  const frames = new FrameReader(limit);
  for (let i = 0; i < 5000; i++) frames.push(encoder.encode(": keepalive\n" + (i > 2500 ? "\n" : "")));
});

await test("what begins behind done and does not end is refused", () => {
  for (const rest of ["event: status", "event: status\n", "data: {}\n", "x", "event: status\ndata: {}"]) {
    refused(() => readText(textOf(transcripts.answer) + rest), rest);
  }
});

await test("a message is one sentence, not a page", () => {
  const say = (length) => readEvents([metadata, ["status", { code: "ROUTING", message: "x".repeat(length) }], answer, done("SUCCESS")]);
  assert.equal(say(500).length, 3);
  refused(() => say(501), "501 characters");
});

await test("evidence was seen at a time that exists", () => {
  for (const at of ["2026-13-01T10:00:00Z", "2026-11-30T25:00:00Z", "2026-11-30", "yesterday"]) {
    const wrong = structuredClone(report);
    wrong.evidence[0].observed_at = at;
    refused(() => readEvents([metadata, content("DIAGNOSIS_REPORT", wrong), done("SUCCESS")]), at);
  }
});

await test("an empty data line costs room too", () => {
  const frames = new FrameReader(1000);
  refused(() => { for (let i = 0; i < 100_000; i++) frames.push(encoder.encode("data\n")); }, "empty lines");
});

await test("data that is nested without end is refused", () => {
  const deep = "[".repeat(5000) + "]".repeat(5000);
  refused(() => readEvents([["metadata", `{"session_id":"s","run_id":${deep}}`]]), "lists");
});

await test("nothing is taken after a violation", () => {
  const protocol = new Protocol({ metadata() {}, status() {} });
  protocol.accept({ event: "metadata", data: JSON.stringify(metadata[1]) });
  refused(() => protocol.accept({ event: "failure", data: "{}" }), "empty failure");
  refused(() => protocol.accept({ event: "content", data: JSON.stringify(answer[1]) }), "content after it");
  refused(() => protocol.end(), "the end");
});
