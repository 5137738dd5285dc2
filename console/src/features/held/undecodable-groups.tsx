import { Button } from '@mantine/core'
import type { UndecodableCheck } from '../../api.js'
import { type Column, DataList } from '../../components/data-list/data-list.js'
import { Mark } from '../../components/mark.js'
import { UserText } from '../../components/user-text.js'
import { count } from '../../words.js'

type Group = UndecodableCheck['groups'][number]

interface UndecodableGroupsProps {
  readonly groups: readonly Group[]
  readonly onRelease: ((group: Group) => void) | undefined
}

/** By kind and version: what the workers said when they were asked. */
export function UndecodableGroups({ groups, onRelease }: UndecodableGroupsProps) {
  const columns: readonly Column<Group>[] = [
    ...COLUMNS,
    ...(onRelease === undefined
      ? []
      : [
          {
            ...{ id: 'release', header: 'Actions', width: '110px' },
            cell: (group: Group) => (
              <Button
                size="compact-xs"
                variant="default"
                aria-label={`Release ${group.kind} version ${group.version}`}
                onClick={() => onRelease(group)}
              >
                Release …
              </Button>
            ),
          },
        ]),
  ]
  return (
    <DataList
      label="Undecodable by kind and version"
      rows={groups}
      rowId={({ kind, version }) => `${kind} ${version}`}
      columns={columns}
      hasKeys={false}
    />
  )
}

const COLUMNS: readonly Column<Group>[] = [
  {
    ...{ id: 'kind', header: 'Kind', onPhone: 'title' },
    cell: ({ kind, version, samples }) => (
      <>
        <UserText>{kind}</UserText> version {version}
        {samples.slice(0, 2).map(({ id, path, message }) => (
          <div key={id} className="small quiet">
            job {id}, <UserText empty="the payload">{path}</UserText>: <UserText>{message}</UserText>
          </div>
        ))}
      </>
    ),
  },
  { id: 'total', header: 'Held', width: '70px', align: 'end', cell: ({ total }) => count(total) },
  {
    ...{ id: 'now', header: 'Would decode now', width: '170px' },
    cell: ({ wouldDecode, total }) => {
      if (wouldDecode === null) return <Mark tone="quiet">Nobody can say</Mark>
      const tone = wouldDecode === total ? 'good' : wouldDecode === 0 ? 'bad' : 'warn'
      return <Mark tone={tone}>{`${count(wouldDecode)} of ${count(total)}`}</Mark>
    },
  },
  { id: 'refused', header: 'Would not', width: '90px', align: 'end', cell: ({ refused }) => count(refused) },
  { id: 'unknown', header: 'Unknown', width: '90px', align: 'end', cell: ({ unknown }) => count(unknown) },
]
