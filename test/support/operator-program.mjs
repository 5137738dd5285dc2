// An operator in a process of its own, who is killed as soon as what he did is answered.
// Arguments: the url, the SDK's name of the action, and its arguments, as JSON.
import { Spillway } from '../../dist/index.js'

const [url, action, args] = JSON.parse(process.argv[2])
const spillway = new Spillway({ url, actor: 'operator' })
const [noun, verb] = action.split('.')
await spillway[noun][verb](...args)
process.kill(process.pid, 'SIGKILL')
