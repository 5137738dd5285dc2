import { Link } from '@tanstack/react-router'
import type { Job } from '../../api.js'
import { Facts } from '../../components/facts.js'
import { Moment } from '../../components/moment.js'
import { UserText } from '../../components/user-text.js'
import { count, counted, spoken } from '../../words.js'

/** What is known of one dead letter, in short; each of its filters leads to those like it. */
export function DeathFacts({ job }: { job: Job }) {
  const { dlq, queue, kind, version, attempt, maxAttempts, crashAttempt, generation, deadline, uniqueKey, tags } = job
  const cause = dlq?.cause
  const crashes = crashAttempt > 0 ? `, and ${counted(crashAttempt, 'crash', 'crashes')}` : ''
  return (
    <Facts
      facts={[
        { label: 'Died', value: <Moment at={dlq?.dlqAt} isExact /> },
        { label: 'Reason', value: <UserText>{spoken(dlq?.reason ?? '')}</UserText> },
        { label: 'Queue', value: <Like search={{ queue }}>{queue}</Like> },
        {
          label: 'Kind',
          value: (
            <>
              <Like search={{ kind }}>{kind}</Like> version {count(version)}
            </>
          ),
        },
        { label: 'Attempts', value: `${count(attempt)} of ${count(maxAttempts)} failed${crashes}` },
        {
          label: 'Came back',
          value: generation === 0 ? 'never' : generation === 1 ? 'once' : `${count(generation)} times`,
        },
        cause !== undefined && {
          label: 'Cause',
          value: <Like search={{ queue, cause }}>{cause.slice(0, 16)}</Like>,
        },
        { label: 'Put in', value: <Moment at={job.createdAt} isExact /> },
        deadline !== null && { label: 'Deadline', value: <Moment at={deadline} isExact /> },
        uniqueKey !== null && { label: 'Unique key', value: <UserText>{uniqueKey}</UserText> },
        tags.length > 0 && { label: 'Tags', value: <Tags tags={tags} /> },
      ]}
    />
  )
}

function Tags({ tags }: { tags: readonly string[] }) {
  return tags.map((tag, n) => (
    <span key={tag}>
      {n > 0 && ', '}
      <Like search={{ tag }}>{tag}</Like>
    </span>
  ))
}

function Like({ search, children }: { search: Record<string, string>; children: string }) {
  return (
    <Link to="/dlq" search={search}>
      <UserText>{children}</UserText>
    </Link>
  )
}
