import { Link } from '@tanstack/react-router'
import type { Job } from '../../api.js'
import { Facts } from '../../components/facts.js'
import { Moment } from '../../components/moment.js'
import { UserText } from '../../components/user-text.js'
import { count, lengthOf, spoken } from '../../words.js'

/** What is known about a job, without what it carries. */
export function JobFacts({ job }: { job: Job }) {
  const { queue, kind, version, priority, attempt, maxAttempts, crashAttempt, generation, tags } = job
  const { createdAt, runAt, startedAt, finalizedAt, deadline, timeoutMs, uniqueKey, originId, reason, blocked } = job
  return (
    <Facts
      facts={[
        { label: 'Kind', value: <UserText>{`${kind} version ${version}`}</UserText> },
        {
          label: 'Queue',
          value: (
            <Link to="/queues/$queue" params={{ queue }}>
              <UserText>{queue}</UserText>
            </Link>
          ),
        },
        { label: 'Priority', value: count(priority) },
        { label: 'Failed attempts', value: `${count(attempt)} of ${count(maxAttempts)}` },
        crashAttempt > 0 && { label: 'Crashes', value: count(crashAttempt) },
        generation > 0 && { label: 'Came back', value: generation === 1 ? 'once' : `${count(generation)} times` },
        { label: 'Put in', value: <Moment at={createdAt} isExact /> },
        { label: 'Due', value: <Moment at={runAt} isExact /> },
        startedAt !== null && { label: 'Last started', value: <Moment at={startedAt} isExact /> },
        finalizedAt !== null && { label: 'Ended', value: <Moment at={finalizedAt} isExact /> },
        deadline !== null && { label: 'Deadline', value: <Moment at={deadline} isExact /> },
        timeoutMs !== null && { label: 'Time limit', value: lengthOf(timeoutMs) },
        reason !== null && { label: 'Reason', value: <UserText>{spoken(reason)}</UserText> },
        uniqueKey !== null && { label: 'Unique key', value: <UserText>{uniqueKey}</UserText> },
        tags.length > 0 && { label: 'Tags', value: <UserText>{tags.join(', ')}</UserText> },
        originId !== undefined && {
          label: 'Copy of',
          value: (
            <Link to="/jobs/$id" params={{ id: originId }}>
              Job {originId}
            </Link>
          ),
        },
        blocked !== undefined && {
          label: 'Blocked by',
          value: (
            <Link to="/held/$fingerprint" params={{ fingerprint: blocked.fingerprint }}>
              its fingerprint, {blocked.because}
            </Link>
          ),
        },
      ]}
    />
  )
}
