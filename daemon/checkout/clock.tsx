/** @jsxImportSource preact */
// How much time is left to pay: a quiet line, until there is little.
import { Heading } from './parts.tsx';
import type { PayView } from './view.ts';

/** From here on the time left stands out; the browser's script has the same. */
const SOON_SECONDS = 120;

export const isSoon = ({ expires_at, now }: PayView): boolean => expires_at - now <= SOON_SECONDS;

/** While nothing has come, it says that we wait, too. */
export function Clock({ view, head }: { view: PayView; head: string }) {
  const { lang, now, expires_at, state, unseen, surface } = view;
  const left = Math.max(0, expires_at - now);
  return (
    <div class="now">
      <p class="time left">
        <span>{lang.say('time_left')}</span>
        <b role="timer" data-left>
          {lang.clock(left)}
        </b>
      </p>
      {state === 'waiting' && (
        <Heading surface={surface} level={2} class="head">
          {head}
        </Heading>
      )}
      {/* It promises that the payment is noticed when it arrives. */}
      {state === 'waiting' && !unseen && <p class="text">{lang.say('waiting_text')}</p>}
      <p class="before">
        <time
          datetime={new Date(expires_at * 1000).toISOString()}
          data-before={lang.say('pay_before', { time: '{time}' })}
        >
          {lang.say('pay_before', { time: lang.date(expires_at) })}
        </time>
      </p>
    </div>
  );
}
