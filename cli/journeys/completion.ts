// `gw completion`: a script that completes commands, flags and the user's own aliases; it needs no network.
import type { Command } from '../engine/command.ts';
import { print } from '../output/io.ts';
import { printObject } from '../output/view.ts';

export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;

export const command: Command = {
  endpoints: [],
  args: ['shell'],
  flags: [
    {
      field: 'shell',
      name: 'shell',
      place: 'own',
      kind: 'text',
      required: true,
      choices: [...shells, 'pwsh'],
      help: 'which shell',
    },
  ],
  about: 'Completes nouns, verbs, flags and the words that a flag takes.',
  fields: ['shell', 'script'],
  examples: [
    'source <(gw completion bash)',
    'gw completion zsh > ~/.zfunc/_gw',
    'gw completion fish > ~/.config/fish/completions/gw.fish',
    'gw completion powershell --json script',
  ],
  async run(context) {
    const { own } = await context.input();
    const { io, registry } = context;
    const [{ scriptOf }, { tableOf }, { completedWithOwn }] = await Promise.all([
      import('../engine/completion.ts'),
      import('../engine/completion-table.ts'),
      import('../engine/own-aliases.ts'),
    ]);
    const shell = own.shell === 'pwsh' ? 'powershell' : (own.shell as (typeof shells)[number]);
    const script = scriptOf(await completedWithOwn(await tableOf(registry), io.env), shell);
    if (io.json !== false) printObject(io, { shell, script });
    else print(io, script);
  },
};
