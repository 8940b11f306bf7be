// Speaks to the service as an application with the npm package "ai" and its openai-compatible provider does, and prints
// what it got as one line of JSON: node ai.mjs BASE_URL KEY MODE [MORE_REQUEST_FIELDS]
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, streamText } from 'ai'

const [baseURL, apiKey, mode, more = '{}'] = process.argv.slice(2)
const provider = createOpenAICompatible({ name: 'fastreact', baseURL, apiKey, includeUsage: true })
const request = {
  model: provider('scripted'), prompt: 'Question', maxRetries: 0, providerOptions: { fastreact: JSON.parse(more) },
}

async function generate(more) {
  const answer = await generateText({ ...request, ...more })
  return { text: answer.text, finish: answer.finishReason, total: answer.usage.totalTokens }
}

// stream reads a stream to its end. What fails within it comes as a part, not as an exception.
async function stream(more) {
  let failed
  const answer = streamText({ ...request, ...more, onError: ({ error }) => { failed ??= error } })
  let text = '', pieces = 0
  for await (const piece of answer.textStream) { text += piece; pieces++ }
  if (failed) throw failed
  return { text, pieces, whole: await answer.text, finish: await answer.finishReason, total: (await answer.usage).totalTokens }
}

const modes = {
  generate, stream,
  invalid: () => generate({ temperature: 9 }),
  invalidStream: () => stream({ temperature: 9 }),
}

let result
try {
  result = await modes[mode]()
} catch (thrown) {
  result = { thrown: thrown.name ?? thrown.constructor.name, status: thrown.statusCode, message: thrown.message ?? String(thrown) }
}
console.log(JSON.stringify(result))
