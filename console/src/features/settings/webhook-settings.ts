import type { Webhook } from '../../api.js'
import type { Sent } from '../../server.js'
import { durationText } from '../../words.js'

type WebhookBody = Omit<Sent<'updateWebhook'>['body'], 'paused' | 'rotate_secret'>

/** A field of a webhook: what it is called, how the API and the command line name it, and how it is dropped there. */
export interface WebhookSetting {
  readonly key: keyof WebhookBody
  readonly label: string
  readonly description?: string
  readonly placeholder?: string
  /** `list`: one to a line, all where there is none. */
  readonly type: 'text' | 'list' | 'number'
  readonly flag: string
  /** The flags for nothing, where nothing can be had. */
  readonly dropped: readonly string[]
  readonly now: (webhook: Webhook) => string
}

const filter = (
  key: 'types' | 'queues' | 'kinds' | 'reasons',
  setting: Pick<WebhookSetting, 'label' | 'flag' | 'placeholder'>,
): WebhookSetting => ({
  ...{ ...setting, key, type: 'list', dropped: ['--all', key] },
  description: 'One to a line; all where left empty',
  now: (webhook) => webhook[key]?.join('\n') ?? '',
})

/** What can be set of a webhook, in the order of the form. */
export const WEBHOOK_SETTINGS: readonly WebhookSetting[] = [
  {
    ...{ key: 'url', label: 'URL', type: 'text', flag: 'url', dropped: [] },
    placeholder: 'https://hooks.example.com/spillway',
    now: ({ url }) => url,
  },
  filter('types', { label: 'Told of', flag: 'type', placeholder: 'died' }),
  filter('queues', { label: 'Queues', flag: 'queue', placeholder: 'billing' }),
  filter('kinds', { label: 'Kinds', flag: 'kind', placeholder: 'charge_card' }),
  filter('reasons', { label: 'Reasons of death', flag: 'dlq-reason', placeholder: 'attempts_exhausted' }),
  {
    ...{ key: 'digest', label: 'Digest', type: 'text', flag: 'digest', dropped: ['--digest', 'none'] },
    description: 'One request for all events of so long, as 5m; one for each event where left empty',
    now: ({ digestMs }) => (digestMs === null ? '' : durationText(digestMs)),
  },
  {
    ...{ key: 'digest_events', label: 'Events in a digest', type: 'number', flag: 'digest-events', dropped: [] },
    description: 'How many are shown beside their counts, 0 to 100',
    now: ({ digestEvents }) => String(digestEvents),
  },
  {
    ...{ key: 'description', label: 'Description', type: 'text', flag: 'description' },
    dropped: ['--description', 'none'],
    now: ({ description }) => description ?? '',
  },
]

export type TypedWebhook = Readonly<Record<string, string>>

/** The settings as they are typed. */
export function typedWebhook(webhook: Webhook): TypedWebhook {
  return Object.fromEntries(WEBHOOK_SETTINGS.map(({ key, now }) => [key, now(webhook)]))
}

/** Those that say something else than before. */
export function changedSettings(before: TypedWebhook, now: TypedWebhook): readonly WebhookSetting[] {
  return WEBHOOK_SETTINGS.filter((it) => textOf(it, before) !== textOf(it, now))
}

/** What is typed, without the empty lines and the spaces around it. */
export function textOf({ key, type }: WebhookSetting, typed: TypedWebhook): string {
  const text = (typed[key] ?? '').trim()
  return type === 'list' ? linesOf(text).join('\n') : text
}

/** What is sent of these settings. What the server refuses goes as it was typed: it says what is wrong with it. */
export function webhookBody(settings: readonly WebhookSetting[], typed: TypedWebhook): WebhookBody {
  return Object.fromEntries(settings.map((it) => [it.key, sentOf(it, textOf(it, typed))])) as WebhookBody
}

function sentOf({ type, dropped }: WebhookSetting, text: string): unknown {
  if (text === '' && dropped.length > 0) return null
  if (type === 'list') return linesOf(text)
  return type === 'number' && /^\d+$/.test(text) ? Number(text) : text
}

/** The same for the command line. */
export function webhookFlags(settings: readonly WebhookSetting[], typed: TypedWebhook): readonly string[] {
  return settings.flatMap((it) => {
    const text = textOf(it, typed)
    if (text === '') return it.dropped
    return it.type === 'list' ? linesOf(text).flatMap((line) => [`--${it.flag}`, line]) : [`--${it.flag}`, text]
  })
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => line.trim() || [])
}
