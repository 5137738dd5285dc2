const SHAPES = {
  overview: 'M3 13h4v4H3zM8 8h4v9H8zM13 3h4v14h-4z',
  dead: 'M10 2 18 17H2zM10 8v4M10 14.5v.5',
  jobs: 'M3 5h14M3 10h14M3 15h14',
  held: 'M6 9V6a4 4 0 0 1 8 0v3M4 9h12v8H4z',
  operations: 'M3 10a7 7 0 0 1 12-5l2 2M17 3v4h-4M17 10a7 7 0 0 1-12 5l-2-2M3 17v-4h4',
  queues: 'M3 4h14v3H3zM3 9h14v3H3zM3 14h14v3H3z',
  workers: 'M4 4h12v5H4zM4 11h12v5H4zM7 6.5h.1M7 13.5h.1',
  audit: 'M5 2h7l4 4v12H5zM8 9h5M8 12h5M8 15h3',
  archive: 'M3 4h14v3H3zM4 7h12v10H4zM8 10h4',
  settings: 'M3 6h8M15 6h2M3 14h2M9 14h8M13 4v4M7 12v4',
  search: 'M9 3a6 6 0 1 1 0 12A6 6 0 0 1 9 3zM13.5 13.5 18 18',
  close: 'M5 5l10 10M15 5 5 15',
  menu: 'M3 5h14M3 10h14M3 15h14',
  light:
    'M10 6.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7zM10 1.5v2M10 16.5v2M1.5 10h2M16.5 10h2M4 4l1.4 1.4M14.6 14.6 16 16M16 4l-1.4 1.4M5.4 14.6 4 16',
  moon: 'M16.5 12A7 7 0 0 1 8 3.5 7 7 0 1 0 16.5 12z',
  system: 'M3 4h14v9H3zM7 17h6M10 13v4',
  help: 'M7.5 7.5a2.5 2.5 0 1 1 3.5 2.3c-.7.3-1 .8-1 1.7M10 14.5v.5M10 2a8 8 0 1 1 0 16 8 8 0 0 1 0-16z',
  plus: 'M10 4v12M4 10h12',
  left: 'M12 4l-6 6 6 6',
  right: 'M8 4l6 6-6 6',
  first: 'M15 4l-6 6 6 6M6 4v12',
  copy: 'M7 7h10v10H7zM4 13H3V3h10v1',
  check: 'M3 10.5l4.5 4.5L17 5',
  refresh: 'M16 10a6 6 0 1 1-2-4.5L16 7M16 3v4h-4',
  user: 'M10 3a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7zM3 18c.6-4 3.300-6 7-6s6.400 2 7 6',
} as const

export type IconName = keyof typeof SHAPES

/** A drawing that says nothing on its own: whatever it stands for is written beside it, or in the label of its button. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      aria-hidden="true"
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      className="icon"
    >
      <path d={SHAPES[name]} />
    </svg>
  )
}
