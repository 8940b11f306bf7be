// Reads the service's events as a page with the npm package "eventsource-parser" does, breaks off in the middle,
// resumes after the last event it saw, and prints everything as one line of JSON: node events.mjs BASE_URL KEY QUESTION
import { createParser } from 'eventsource-parser'

const [baseURL, key, question] = process.argv.slice(2)
const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }

// read parses a response event by event, until the stream ends or enough says so.
async function read(response, enough = () => false) {
  const events = []
  let errors = 0
  const parser = createParser({ onEvent: (event) => events.push(event), onError: () => { errors++ } })
  const decoder = new TextDecoder()
  for await (const piece of response.body) {
    parser.feed(decoder.decode(piece, { stream: true }))
    if (enough(events)) break
  }
  return { events, errors }
}

const kinds = (events) => events.map((event) => event.event)
const ids = (events) => events.map((event) => event.id ?? null)
const text = (events) => events
  .filter((event) => event.data !== '[DONE]')
  .map((event) => JSON.parse(event.data).choices[0].delta.content ?? '').join('')

const response = await fetch(`${baseURL}/chat/completions`, {
  method: 'POST', headers,
  body: JSON.stringify({ stream: true, on_disconnect: 'continue', messages: [{ role: 'user', content: question }] }),
})
if (response.status !== 200) {
  console.log(JSON.stringify({ status: response.status, body: await response.json() }))
  process.exit(0)
}
const run = response.headers.get('x-fastreact-run-id')
const begun = await read(response, (events) => events.length >= 2)
const seen = begun.events.slice(0, 2)
const rest = await read(await fetch(`${baseURL}/runs/${run}/stream`, {
  headers: { ...headers, 'last-event-id': seen.at(-1).id },
}))
const whole = await read(await fetch(`${baseURL}/runs/${run}/stream`, { headers }))
const resumed = [...seen, ...rest.events]
console.log(JSON.stringify({
  errors: begun.errors + rest.errors + whole.errors,
  kinds: kinds(resumed), ids: ids(resumed), text: text(resumed), last: resumed.at(-1).data,
  same: JSON.stringify(resumed) === JSON.stringify(whole.events),
}))
