import { ActionIcon, type MantineColorScheme, Menu, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { Icon, type IconName } from '../../components/icon.js'

const SCHEMES: readonly { readonly scheme: MantineColorScheme; readonly label: string; readonly icon: IconName }[] = [
  { scheme: 'light', label: 'Light', icon: 'light' },
  { scheme: 'dark', label: 'Dark', icon: 'moon' },
  { scheme: 'auto', label: 'As the system', icon: 'system' },
]

/** Light, dark, or as the system has it; kept in this browser. */
export function SchemeMenu() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const isDark = useComputedColorScheme() === 'dark'
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label="Colours">
          <Icon name={isDark ? 'moon' : 'light'} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {SCHEMES.map(({ scheme, label, icon }) => (
          <Menu.Item
            key={scheme}
            leftSection={<Icon name={icon} />}
            rightSection={scheme === colorScheme ? <Icon name="check" size={13} /> : undefined}
            aria-current={scheme === colorScheme || undefined}
            onClick={() => setColorScheme(scheme)}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
