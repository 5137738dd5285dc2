import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Post, post } from '../../src/maintenance/post.js'
import { type Receiver, startReceiver } from '../support/receiver.js'

describe('a request to a receiver', () => {
  let receiver: Receiver
  beforeAll(async () => {
    receiver = await startReceiver()
  })
  afterAll(() => receiver.close())
  beforeEach(() => {
    receiver.received.length = 0
  })

  const send = (part: Partial<Post> = {}) =>
    post({
      url: receiver.url,
      headers: { 'x-test': '1' },
      body: '{"a":"ä"}',
      timeoutMs: 5_000,
      allowPrivate: true,
      ...part,
    })
  const at =
    (...addresses: string[]) =>
    async () =>
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

  it('arrives as it was sent, and answers with the status', async () => {
    receiver.answer((response) => void response.writeHead(201).end('thanks'))

    expect(await send()).toBe(201)

    const { body, headers } = await receiver.arrived(1)
    expect([body, headers['x-test'], headers['content-length']]).toEqual(['{"a":"ä"}', '1', '10'])
  })

  it('goes to the address that was looked up, not to one the system finds later', async () => {
    const looked: string[] = []
    const resolve = async (host: string) => {
      looked.push(host)
      return at('127.0.0.1')()
    }

    const url = `http://hook.invalid:${new URL(receiver.url).port}/pinned`
    expect(await send({ url, resolve })).toBe(201)

    expect(looked).toEqual(['hook.invalid'])
    const { path, headers } = await receiver.arrived(1)
    expect([path, headers.host]).toEqual(['/pinned', new URL(url).host])
  })

  it.each([
    ['a private address', at('10.0.0.1')],
    ['loopback', at('127.0.0.1')],
    ['IPv4-mapped loopback', at('::ffff:127.0.0.1')],
    ['the metadata of a cloud', at('169.254.169.254')],
    ['a private address among public ones', at('93.184.216.34', '192.168.1.1')],
    ['no address at all', at()],
  ])('is not sent where the name leads to %s', async (_, resolve) => {
    const url = `http://hook.invalid:${new URL(receiver.url).port}/`

    await expect(send({ url, resolve, allowPrivate: false })).rejects.toThrow(/no public address|has no address/)

    expect(receiver.received).toEqual([])
  })

  it.each(['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '0x7f.1', '2130706433', '017700000001', '0.0.0.0'])(
    'is not sent to http://%s',
    async (host) => {
      const url = `http://${host}:${new URL(receiver.url).port}/`
      await expect(send({ url, allowPrivate: false })).rejects.toThrow('no public address')

      expect(receiver.received).toEqual([])
    },
  )

  it('follows no redirect', async () => {
    receiver.answer((response) => void response.writeHead(302, { location: '/elsewhere' }).end())

    expect(await send()).toBe(302)

    expect(receiver.received).toHaveLength(1)
  })

  it.each([
    ['that never answers', 'no answer within 100 ms', () => undefined],
    ['that hangs up', 'socket hang up', (response: { destroy(): void }) => response.destroy()],
  ])('to a receiver %s fails', async (_, message, answer) => {
    receiver.answer(answer as never)

    await expect(send({ timeoutMs: 100 })).rejects.toThrow(message)
  })

  it('to nobody fails', async () => {
    await expect(send({ url: 'http://127.0.0.1:1/' })).rejects.toThrow('ECONNREFUSED')
  })

  it('whose name takes too long to look up fails', async () => {
    const resolve = () => new Promise<never>(() => undefined)

    await expect(send({ url: 'http://hook.invalid/', resolve, timeoutMs: 50 })).rejects.toThrow(
      'no answer within 50 ms',
    )
  })

  it('is over with the status where the body never ends', async () => {
    receiver.answer((response) => void response.writeHead(200).write('x'))

    expect(await send({ timeoutMs: 200 })).toBe(200)
  })

  it('reads no more than a bounded part of a body', async () => {
    let written = 0
    receiver.answer((response) => {
      response.writeHead(200)
      const more = () => {
        while (!response.destroyed && written < 100_000_000) {
          written += 65_536
          if (!response.write('x'.repeat(65_536))) return void response.once('drain', more)
        }
      }
      more()
    })

    expect(await send()).toBe(200)

    expect(written).toBeLessThan(20_000_000)
  })

  it('can be called off', async () => {
    receiver.answer(() => undefined)
    const stopped = new AbortController()
    const sending = send({ signal: stopped.signal })
    await receiver.arrived(1)
    stopped.abort()

    await expect(sending).rejects.toThrow('abort')
  })

  it.each(['ftp://example.com/', 'file:///etc/passwd', 'gopher://example.com/'])('never goes to %s', async (url) => {
    await expect(send({ url })).rejects.toThrow('is not sent to')
  })
})
