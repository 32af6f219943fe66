// A merchant's inbox gone through by a person: each payment with what it may mean, closed with d or noted with n.
import type { CallReply } from '../../../src/api/client/call.ts';
import { type listInbox, remarkOwnPayment } from '../../../src/api/endpoints/invoices.ts';
import type { Context } from '../../engine/command.ts';
import { printSections } from '../../output/card.ts';
import { matchLine, stepRows } from '../../output/explain-card.ts';
import { paint, print } from '../../output/io.ts';
import { coins } from '../../output/money.ts';
import { moment, shortId } from '../../output/value.ts';
import { askKey } from './inbox-keys.ts';
import { askRemark, done, outcomeOf } from './inbox-work.ts';

type Item = CallReply<typeof listInbox>['data'][number];

/** Goes through them one by one, until a person has seen all or leaves. */
export async function workThroughOwn(
  context: Context,
  { data: items, has_more }: CallReply<typeof listInbox>,
): Promise<void> {
  const { io } = context;
  const payments = items.filter(({ kind, id }) => id !== null && kind !== 'webhook' && kind !== 'blind');
  if (payments.length === 0) return print(io, 'No payment waits.');
  for (const [index, item] of payments.entries()) {
    print(io, '');
    if (!(await workOn(context, item, `${index + 1} of ${payments.length}: ${item.kind}`))) return;
  }
  print(
    io,
    has_more ? 'That was the last one of this list: ask again, others wait.' : 'That was the last one.',
  );
}

/** Shows one and does what a person says; false where he leaves. */
async function workOn(context: Context, item: Item, title: string): Promise<boolean> {
  const { io } = context;
  const payment_id = String(item.id);
  const isDismissible = item.kind !== 'held';
  show(context, item, title);
  const keys = [
    ...(isDismissible ? [{ text: 'd closes unbooked', short: 'd closes', spare: 2 }] : []),
    { text: 'n notes', spare: 3 },
    { text: 's skips', spare: 1 },
    { text: 'q ends' },
  ];
  const say = async (dismissed?: true): Promise<string> => {
    const body = await askRemark(io, dismissed);
    await context.call(remarkOwnPayment, { params: { payment_id }, body });
    return outcomeOf(body);
  };
  for (;;) {
    const key = (await askKey(io, keys)).toLowerCase();
    if (key === 'q') return false;
    if (key === 's') return true;
    if (key === 'n') await done(io, () => say());
    else if (key === 'd' && isDismissible && (await done(io, () => say(true)))) return true;
  }
}

function show({ io }: Context, item: Item, title: string): void {
  const now_s = Math.floor(Date.now() / 1000);
  const amount = item.amount === null ? '' : coins(item.amount, item.currency ?? '');
  print(io, paint(io, 'bold', `${title}   ${shortId(String(item.id))}   ${amount}`));
  printSections(io, [
    {
      title: '',
      rows: [
        ['about', item.about],
        ['chain', item.chain ?? '–'],
        ['order', item.external_ref ?? '–'],
        ['since', item.created_at === null ? '–' : moment(item.created_at, now_s)],
      ],
    },
    {
      title: 'could be',
      rows: item.candidates.map((open) => [shortId(open.id), matchLine(open, now_s)]),
    },
    { title: 'next', rows: stepRows(item.next) },
  ]);
}
