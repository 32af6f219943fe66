// What became of a payment that no invoice of the merchant shows: the story that `gw explain` tells.
import type { CallReply } from '../../../src/api/client/call.ts';
import { explain } from '../../../src/api/endpoints/invoices.ts';
import { explainCard } from '../../output/explain-card.ts';
import { shortId } from '../../output/value.ts';
import type { DetailSpec } from '../detail.ts';
import type { Desk, Place } from '../view.ts';

type Explanation = CallReply<typeof explain>;

export function storyDetail(desk: Desk, { id = '' }: Place): DetailSpec<Explanation> {
  return {
    title: `payment ${shortId(id)}`,
    load: () => desk.context.call(explain, { query: { q: id } }),
    headline: (data, now_s) => {
      const { headline: text, status } = explainCard(data, now_s);
      return { text, status };
    },
    sections: (data, now_s) => explainCard(data, now_s).sections,
    copies: () => [{ key: 'i', what: 'id', text: id }],
  };
}
