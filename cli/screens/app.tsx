// The operator's screen: its frame, the keys that work everywhere, and the view inside.
import { Box, Text, useApp } from 'ink';
import { createElement, type FC, useState } from 'react';
import { listAdminMerchants } from '../../src/api/endpoints/admin.ts';
import type { Context } from '../engine/command.ts';
import { GwError } from '../engine/errors.ts';
import { clean } from '../output/text.ts';
import { relative } from '../output/value.ts';
import { pad } from '../output/width.ts';
import { DashboardView } from './dashboard.tsx';
import { useKeys, useNow, useSize } from './hooks.ts';
import { ObserversView } from './observers.tsx';
import { PaymentsView } from './payments.tsx';
import { runScreen } from './terminal.ts';
import type { Status, ViewProps } from './view-props.ts';

const views: Record<string, { view: FC<ViewProps>; keys: string }> = {
  dashboard: { view: DashboardView, keys: 'ctrl-r read' },
  payments: {
    view: PaymentsView,
    keys: 'enter open  / filter  t status  s S sort  ctrl-r read',
  },
  observers: { view: ObserversView, keys: 'enter open  esc back  ctrl-r read' },
};

const HELP = [
  ': dashboard | payments | observers   go to a view        :q  q  ctrl-c   leave',
  'j k ↑ ↓   move      pgup pgdn ctrl-b ctrl-f   page      g G   first, last',
  '/   filter by any text, ! before it inverts it          esc   back, clear',
  't   next status     s   sort by the next column         S   reverse the order',
  'enter   open        r   resolve: recheck, confirm, expire, fail',
  'ctrl-r   read again                                     ?   this help',
];
/** Header, status line and footer. */
const FRAME_ROWS = 3;

export function Screens(
  props: Omit<ViewProps, 'size' | 'active' | 'onTyping' | 'onStatus'> & { initial: string; url: string },
) {
  const size = useSize();
  const { exit } = useApp();
  const [name, setName] = useState(props.initial);
  const [command, setCommand] = useState<string | null>(null);
  const [help, setHelp] = useState(false);
  const [typing, setTyping] = useState(false);
  const [status, setStatus] = useState<Status>({ text: 'loading', error: null, read_at: 0 });
  const [notice, setNotice] = useState('');
  const obey = (line: string) => {
    const word = line.trim();
    if (word === 'q' || word === 'quit') return exit();
    const found = Object.keys(views).find((view) => word !== '' && view.startsWith(word));
    if (found) setName(found);
    else if (word) setNotice(`no view “${word}”: ${Object.keys(views).join(', ')}`);
  };
  useKeys((input, key) => {
    if (key.ctrl && input === 'c') return exit(new GwError('interrupted', 'interrupted'));
    setNotice('');
    if (typing) return;
    if (command !== null) {
      if (key.escape) setCommand(null);
      else if (key.return) {
        setCommand(null);
        obey(command);
      } else if (key.backspace || key.delete) setCommand((before) => (before ?? '').slice(0, -1));
      else setCommand((before) => (before ?? '') + clean(input));
      return;
    }
    if (input === '?' || (help && key.escape)) return setHelp(!help);
    if (input === 'q') return exit();
    if (input === ':') setCommand('');
  });
  const { view, keys } = views[name] ?? { view: DashboardView, keys: '' };
  const inner = { columns: size.columns, rows: Math.max(1, size.rows - FRAME_ROWS) };
  const title = ` gw  ${name}${props.readonly ? '  read-only' : ''}  ${clean(props.url)}`;
  return (
    <Box flexDirection="column" width={size.columns} height={size.rows}>
      <Text inverse wrap="truncate">
        {pad(title, size.columns)}
      </Text>
      <StatusLine status={status} notice={notice} width={size.columns} />
      <Box height={inner.rows} flexDirection="column" overflow="hidden">
        {/* Too much for the room is cut, not squeezed: squeezed lines lie over each other. */}
        <Box flexDirection="column" flexShrink={0}>
          {help ? <Help /> : null}
          {/* Hidden behind the help, so that it keeps its filter and its place. */}
          <Box flexDirection="column" display={help ? 'none' : 'flex'}>
            {createElement(view, {
              ...props,
              size: inner,
              active: command === null && !help,
              onTyping: setTyping,
              onStatus: setStatus,
            })}
          </Box>
        </Box>
      </Box>
      <Text wrap="truncate" dimColor={command === null}>
        {command === null ? `? help  : go to  q quit  ${keys}` : `:${command}█`}
      </Text>
    </Box>
  );
}

/** Data that is younger than this is called new: its age would only flicker. */
const NEW_SECONDS = 10;

/** What was typed wrong, else why nothing comes, else figures; and how old what is in view is. */
function StatusLine({ status: { text, error, read_at }, notice, width }: StatusLineProps) {
  const now = useNow();
  const message = clean(notice || (error ? `! ${error}; trying again` : text));
  const isOld = now - read_at >= NEW_SECONDS;
  const age = read_at === 0 ? '' : `read ${isOld ? relative(read_at, now) : 'just now'}`;
  const room = Math.max(0, width - age.length - 1);
  return (
    <Text wrap="truncate" color={error || notice ? 'red' : 'gray'}>
      {pad(message, room)}
      <Text color={isOld && age !== '' ? 'yellow' : ''}>{` ${age}`}</Text>
    </Text>
  );
}

interface StatusLineProps {
  status: Status;
  notice: string;
  width: number;
}

const Help = () =>
  HELP.map((line) => (
    <Text key={line} wrap="truncate">
      {line}
    </Text>
  ));

/** Refuses who may not see the screen with an exit code; a service that is away is waited for on it. */
async function requireOperator(context: Context): Promise<void> {
  try {
    await context.call(listAdminMerchants, { query: { limit: 1 } });
  } catch (error) {
    if (!(error instanceof GwError) || !['unreachable', 'retry'].includes(error.kind)) throw error;
  }
}

/** Runs the operator's screen, beginning with a view. */
export async function operatorScreen(
  context: Context,
  {
    initial,
    query = {},
    readonly,
    refresh_ms,
  }: Pick<ViewProps, 'readonly' | 'refresh_ms'> & {
    initial: string;
    query?: Record<string, unknown>;
  },
): Promise<void> {
  const { url } = await context.settings();
  await requireOperator(context);
  await runScreen(context, <Screens {...{ context, initial, url, query, readonly, refresh_ms }} />);
}
