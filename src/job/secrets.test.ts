import { describe, expect, it } from 'vitest'
import { cutSecrets } from './secrets.js'

const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P'
const PEM = '-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nSECRETpart+/=\n-----END RSA PRIVATE KEY-----'

describe('cutting secrets', () => {
  it.each([
    ['Authorization: Bearer SECRETpart123', 'Authorization: Bearer [secret]'],
    ['"authorization":"Basic SECRETpart=="', '"authorization":"Basic [secret]"'],
    ['{\\"Authorization\\":\\"SECRETpart123\\"}', '{\\"Authorization\\":\\"[secret]\\"}'],
    ['sent bearer SECRETpart123.', 'sent bearer [secret]'],
    ['Cookie: sid=SECRETpart; a=SECRETpart\nHost: x', 'Cookie: [secret]\nHost: x'],
    ['set-cookie: sid=SECRETpart', 'set-cookie: [secret]'],
    ['connect postgres://app:SECRETp@rt@db:5432/x', 'connect postgres://app:[secret]@db:5432/x'],
    ['redis://:SECRETpart@cache', 'redis://:[secret]@cache'],
    ['key AKIASECRETPARTXX1234 denied', 'key [secret] denied'],
    ['sk_live_SECRETpart123456', '[secret]'],
    ['ghp_SECRETpartSECRETpartSECRET', '[secret]'],
    ['xoxb-SECRETpart-123', '[secret]'],
    [`token ${JWT}!`, 'token [secret]!'],
    [`key:\n${PEM}\nend`, 'key:\n[secret]\nend'],
    ['-----BEGIN PRIVATE KEY-----\nSECRETpart cut off', '[secret]'],
    [`-----END PRIVATE KEY----- ${PEM} and ${PEM} end`, '-----END PRIVATE KEY----- [secret] and [secret] end'],
    ['password=SECRETpart&user=a', 'password=[secret]&user=a'],
    ['{"password": "SECRET part", "user": "a"}', '{"password": [secret], "user": "a"}'],
    ["{ api_key: 'SECRETpart', id: 1 }", '{ api_key: [secret], id: 1 }'],
    ['access_token=SECRETpart', 'access_token=[secret]'],
    ['AWS_SECRET_ACCESS_KEY=SECRETpart', 'AWS_SECRET_ACCESS_KEY=[secret]'],
  ])('%s', (text, expected) => {
    expect(cutSecrets(text)).toBe(expected)
  })

  it.each([
    'Unexpected token } in JSON at position 4',
    'connect ECONNREFUSED 10.0.0.1:5432',
    'at run (file:///app/src/tasks/send_token.js:10:5)',
    'https://example.org:8080/a@b',
    'max_tokens=5 exceeded',
    'disk_full1234567 and task_runner12345',
    'the basic plan',
    'password must not be empty',
  ])('leaves %s alone', (text) => {
    expect(cutSecrets(text)).toBe(text)
  })

  it('finds every one of many', () => {
    expect(cutSecrets('token=SECRETa token=SECRETb sk_live_SECRETpart1')).toBe('token=[secret] token=[secret] [secret]')
  })

  it.each([
    ['eyJa', 'eyJa'],
    ['eyJaaaaaa.', 'eyJaaaaaa.'],
    ['-eyJaaaaaa', '-eyJaaaaaa'],
    ['://a', '://a'],
    ['://a:b', '://a:b'],
    ['authorization: ', 'authorization: '],
    ['token="', 'token="'],
    ["token='a", "token='a"],
    ['cookie:', 'cookie:'],
    ['-----BEGIN PRIVATE KEY-----', '-----BEGIN PRIVATE KEY-----'],
    ['-----END PRIVATE KEY-----', '-----END PRIVATE KEY-----'],
    ['-----BEGIN A PRIVATE KEY', '-----BEGIN A PRIVATE KEY'],
    ['SG.aaaaaaaaaaaaaaaaaa', 'SG.aaaaaaaaaaaaaaaaaa'],
    ['sk-', 'sk-'],
    ['xoxb-', 'xoxb-'],
    ['bearer ', 'bearer '],
    ['token ', 'token '],
    ['https://hooks.slack.com/services/', 'https://hooks.slack.com/services/'],
    ['a', 'a'],
  ])('takes linear time over 1 MB of %s', (_, part) => {
    // Every prefix that opens the gate, then what could make a pattern start over and over.
    const text = `token= ://a@ eyJ ${part.repeat(Math.ceil(1_000_000 / part.length))}`
    const started = process.cpuUsage()

    cutSecrets(text)

    // Linear is a tenth of a second; quadratic is many minutes.
    expect(process.cpuUsage(started).user).toBeLessThan(4_000_000)
  })
})
