// `npm run monitoring`: writes docs/monitoring/ anew.
import { mkdirSync, writeFileSync } from 'node:fs'
import { METRICS } from '../dist/metrics/definitions.js'
import { monitoringFiles } from './monitoring-files.mjs'

const folder = new URL('../docs/monitoring/', import.meta.url)
mkdirSync(folder, { recursive: true })
for (const [name, text] of Object.entries(monitoringFiles(METRICS))) writeFileSync(new URL(name, folder), text)
