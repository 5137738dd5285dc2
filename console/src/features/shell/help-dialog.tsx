import { Modal, Switch } from '@mantine/core'
import { useRegistry } from '../../components/shortcuts.js'
import './help-dialog.css'

/** Every key that does something on the screen one is on, and the switch that turns them off. */
export function HelpDialog({ onClose }: { onClose: () => void }) {
  const { list, isOn, turn } = useRegistry()
  const all = list()
  const groups = [...new Set(all.map(({ group }) => group))].sort()
  return (
    <Modal opened onClose={onClose} title="Keyboard" size="lg">
      <Switch
        checked={isOn}
        onChange={({ currentTarget }) => turn(currentTarget.checked)}
        label="Single keys act on the page"
        description="Turn it off if you dictate, or another program uses these keys."
      />
      <div className="help">
        {groups.map((group) => (
          <section key={group} aria-label={group}>
            <h3>{group}</h3>
            <dl>
              {all
                .filter((it) => it.group === group)
                .map(({ keys, label }) => (
                  <div key={keys + label}>
                    <dt>
                      {keys.split(' ').map((key) => (
                        <kbd key={key}>{key}</kbd>
                      ))}
                    </dt>
                    <dd>{label}</dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
    </Modal>
  )
}
