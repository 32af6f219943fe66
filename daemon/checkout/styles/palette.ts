// The colours of everything that people see of this service: pages, fragments and mails.

/** Pairs that stand on each other have a contrast of at least 4.5:1, which the accessibility tests check. */
export const palette = {
  light: {
    ink: '#141b2d',
    soft: '#4c566b',
    line: '#dde2ec',
    back: '#eef1f7',
    card: '#ffffff',
    field: '#f4f6fa',
    accent: '#1552c8',
    on: '#ffffff',
    good: '#0b6b34',
    goodbg: '#e7f6ec',
    warn: '#7a4300',
    warnbg: '#fff3dc',
    bad: '#a51d13',
    badbg: '#fdeceb',
    info: '#12459f',
    infobg: '#e9f0fd',
  },
  dark: {
    ink: '#eaeefb',
    soft: '#a9b4cc',
    line: '#2c364b',
    back: '#0c111b',
    card: '#151c2b',
    field: '#1b2436',
    accent: '#8db4ff',
    on: '#06132e',
    good: '#7fe0a3',
    goodbg: '#12301f',
    warn: '#ffcb7d',
    warnbg: '#35270d',
    bad: '#ffa59e',
    badbg: '#3a1917',
    info: '#a9c6ff',
    infobg: '#182c52',
  },
} as const;

/** The colours as custom properties of `root`: dark ones on screens that ask for them, never on paper. */
export function tokens(root: string): string {
  const properties = (colours: Record<string, string>): string =>
    Object.entries(colours)
      .map(([name, value]) => `--gw-${name}:${value}`)
      .join(';');
  return `${root}{${properties(palette.light)}}
@media screen and (prefers-color-scheme:dark){${root}{${properties(palette.dark)}}}`;
}
