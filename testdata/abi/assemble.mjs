// Assembles the vectors: every .wat file in this folder, ../hostile, ../extism and the meter's becomes a .wasm file beside it.
//
//   node testdata/abi/assemble.mjs [--check]
//
// --check writes nothing and fails when a committed file differs. It needs the npm package wabt 1.0.37, found in the
// node_modules folder named by FASTREACT_NODE_MODULES, else in ./node_modules.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const wanted = '1.0.37'
const here = dirname(fileURLToPath(import.meta.url))
const modules = resolve(process.env.FASTREACT_NODE_MODULES ?? 'node_modules')
const require = createRequire(join(modules, 'from-here.cjs'))

const { version } = JSON.parse(readFileSync(join(modules, 'wabt', 'package.json'), 'utf8'))
if (version !== wanted) {
  console.error(`wabt ${wanted} is needed, ${version} is installed`)
  process.exit(2)
}

const check = process.argv.includes('--check')
const wabt = await require('wabt')()
let stale = 0
const meter = join(here, '..', '..', 'host', 'internal', 'wasm', 'meter', 'testdata')
for (const folder of [here, join(here, '..', 'hostile'), join(here, '..', 'extism'), meter]) {
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.wat')).sort()) {
    const target = join(folder, name.replace(/\.wat$/, '.wasm'))
    const bytes = assemble(name, readFileSync(join(folder, name), 'utf8'))
    if (!check) {
      writeFileSync(target, bytes)
    } else if (!existsSync(target) || !readFileSync(target).equals(bytes)) {
      console.error(`${target} is not what ${name} says`)
      stale++
    }
  }
}
process.exit(stale > 0 ? 1 : 0)

function assemble(name, text) {
  const module = wabt.parseWat(name, text, { annotations: true })
  try {
    module.validate()
    return Buffer.from(module.toBinary({}).buffer)
  } finally {
    module.destroy()
  }
}
