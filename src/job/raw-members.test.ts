import { expect, it } from 'vitest'
import { rawMembers } from './raw-members.js'

it('gives every member as it is written', () => {
  const text =
    ' { "n" : 9007199254740993, "o": {"a": [1, {"b": "}]"}], "c": 1.10 } ,"s":"a\\"b,:{","e":1E+2,"t":true,"x":null }'

  expect(Object.fromEntries(rawMembers(text))).toEqual({
    n: '9007199254740993',
    o: '{"a": [1, {"b": "}]"}], "c": 1.10 }',
    s: '"a\\"b,:{"',
    e: '1E+2',
    t: 'true',
    x: 'null',
  })
})

it.each(['{}', ' { } ', '{"a":{}}', '{"a":[]}', '{"":""}', '{"a":[[[]],{}]}', '{"\\u0061":1,"a":2}'])(
  'reads %s as JSON.parse does',
  (text) => {
    const parsed = [...rawMembers(text)].map(([key, value]) => [key, JSON.parse(value) as unknown])

    expect(Object.fromEntries(parsed)).toEqual(JSON.parse(text))
  },
)

it('reads a megabyte of brackets without recursion', () => {
  const text = `{"deep":${'['.repeat(100_000)}${']'.repeat(100_000)},"n":1}`

  expect(rawMembers(text).get('n')).toBe('1')
})
