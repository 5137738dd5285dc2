import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { JobDetail } from '../../api.js'
import { Moment } from '../../components/moment.js'
import { UserText } from '../../components/user-text.js'
import { count, counted, spoken } from '../../words.js'
import './facts.css'

/** What is known of one dead letter, in short. */
export function Facts({ job }: { job: JobDetail }) {
  const { dlq, queue, kind, version, attempt, maxAttempts, crashAttempt, generation, deadline, uniqueKey, tags } = job
  const cause = dlq?.cause
  return (
    <dl className="facts">
      <Fact label="Died">
        <Moment at={dlq?.dlqAt} isExact />
      </Fact>
      <Fact label="Reason">
        <UserText>{spoken(dlq?.reason ?? '')}</UserText>
      </Fact>
      <Fact label="Queue">
        <Link to="/dlq" search={{ queue }}>
          <UserText>{queue}</UserText>
        </Link>
      </Fact>
      <Fact label="Kind">
        <Link to="/dlq" search={{ kind }}>
          <UserText>{kind}</UserText>
        </Link>{' '}
        version {count(version)}
      </Fact>
      <Fact label="Attempts">
        {count(attempt)} of {count(maxAttempts)} failed
        {crashAttempt > 0 && `, and ${counted(crashAttempt, 'crash', 'crashes')}`}
      </Fact>
      <Fact label="Came back">
        {generation === 0 ? 'never' : generation === 1 ? 'once' : `${count(generation)} times`}
      </Fact>
      {cause !== undefined && (
        <Fact label="Cause">
          <Link to="/dlq" search={{ queue, cause }}>
            <UserText>{cause.slice(0, 16)}</UserText>
          </Link>
        </Fact>
      )}
      <Fact label="Put in">
        <Moment at={job.createdAt} isExact />
      </Fact>
      {deadline !== null && (
        <Fact label="Deadline">
          <Moment at={deadline} isExact />
        </Fact>
      )}
      {uniqueKey !== null && (
        <Fact label="Unique key">
          <UserText>{uniqueKey}</UserText>
        </Fact>
      )}
      {tags.length > 0 && (
        <Fact label="Tags">
          {tags.map((tag, n) => (
            <span key={tag}>
              {n > 0 && ', '}
              <Link to="/dlq" search={{ tag }}>
                <UserText>{tag}</UserText>
              </Link>
            </span>
          ))}
        </Fact>
      )}
    </dl>
  )
}

export function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}
