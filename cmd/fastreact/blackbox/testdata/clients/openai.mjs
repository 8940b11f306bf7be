// Speaks to the service as an application with the npm package "openai" does, and prints what it got as one line of
// JSON: node openai.mjs BASE_URL KEY MODE [MORE_REQUEST_FIELDS]
import OpenAI from 'openai'

const [baseURL, apiKey, mode, more = '{}'] = process.argv.slice(2)
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 })
const request = { model: 'scripted', messages: [{ role: 'user', content: 'Question' }], ...JSON.parse(more) }

// watch reads a stream to its end and returns everything that an application may look at.
async function watch(chunks) {
  const seen = { text: '', pieces: 0, roles: [], finish: [], total: [], ids: new Set() }
  for await (const chunk of chunks) {
    seen.ids.add(chunk.id)
    if (chunk.usage) seen.total.push(chunk.usage.total_tokens)
    const { delta, finish_reason: finish } = chunk.choices[0]
    if (delta.role) seen.roles.push(delta.role)
    if (delta.content) { seen.text += delta.content; seen.pieces++ }
    if (finish) seen.finish.push(finish)
  }
  return { ...seen, ids: seen.ids.size }
}

const modes = {
  async create() {
    const answer = await client.chat.completions.create(request)
    return {
      text: answer.choices[0].message.content, finish: answer.choices[0].finish_reason,
      total: answer.usage?.total_tokens, error: answer.error,
    }
  },
  stream: async () => watch(await client.chat.completions.create({ ...request, stream: true })),
  async helper() {
    let heard = ''
    const runner = client.chat.completions.stream(request).on('content', (piece) => { heard += piece })
    const text = await runner.finalContent()
    const whole = await runner.finalChatCompletion()
    return { text, heard, finish: whole.choices[0].finish_reason, total: (await runner.totalUsage()).total_tokens }
  },
  models: async () => ({ models: (await client.models.list()).data.map((model) => model.id) }),
  invalid: async () => client.chat.completions.create({ ...request, temperature: 9 }),
  invalidStream: async () => watch(await client.chat.completions.create({ ...request, temperature: 9, stream: true })),
}

let result
try {
  result = await modes[mode]()
} catch (thrown) {
  result = { thrown: thrown.constructor.name, status: thrown.status, code: thrown.code, message: thrown.message }
}
console.log(JSON.stringify(result))
