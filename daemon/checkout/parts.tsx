/** @jsxImportSource preact */
// The pieces that pay page and unit chooser share.
import type { Wallet } from '../../src/chains/family.ts';
import type { CheckoutState } from '../../src/checkout.ts';
import type { Language } from './language.ts';
import { logoDrawing, walletDrawing } from './logos.ts';
import type { PayView, Surface } from './view.ts';

type Tone = 'info' | 'good' | 'warn' | 'bad';

export const tones: Record<CheckoutState, Tone> = {
  waiting: 'info',
  closing: 'warn',
  orphaned: 'warn',
  underpaid: 'warn',
  seen: 'info',
  processing: 'info',
  confirmed: 'good',
  overpaid: 'good',
  expired: 'bad',
  cancelled: 'bad',
  failed: 'bad',
  late: 'warn',
  incomplete: 'warn',
};

const icons: Record<Tone, string> = {
  info: 'M12 7v5l3 2M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18',
  good: 'M8 12.5l2.7 2.7L16 9.5M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18',
  warn: 'M12 9v4m0 3.5v.01M10.3 4.5L2.9 17.5A2 2 0 0 0 4.6 20.5h14.8a2 2 0 0 0 1.7-3L13.7 4.5a2 2 0 0 0-3.4 0z',
  bad: 'M9 9l6 6m0-6l-6 6M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18',
};

export const Icon = ({ tone }: { tone: Tone }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={icons[tone]} />
  </svg>
);

const Drawn = ({ drawing }: { drawing: string }) => (
  <svg
    class="logo"
    viewBox="0 0 32 32"
    aria-hidden="true"
    // biome-ignore lint/security/noDangerouslySetInnerHtml: drawn here, nothing of a caller's is in it
    dangerouslySetInnerHTML={{ __html: drawing }}
  />
);

export const Logo = ({ ticker }: { ticker: string }) => <Drawn drawing={logoDrawing(ticker)} />;

/** The mark of a wallet; null is any wallet. */
export const Drawing = ({ wallet }: { wallet: Wallet | null }) => <Drawn drawing={walletDrawing(wallet)} />;

/** An amount as people read it; it stays on one line with what it is of. */
export const coins = ({ lang, unit }: Pick<PayView, 'lang' | 'unit'>, amount: string): string =>
  `${lang.coin(amount)}\u00a0${unit}`;

/** A heading of the page, or one level lower in a page that has its own. */
/** For what is paid by and looked up: programs that translate pages must not touch a character of it. */
export const asItIs = { translate: 'no' as unknown as boolean };

export const Heading = ({
  surface,
  level,
  ...rest
}: {
  surface: Surface;
  level: 1 | 2;
  [name: string]: unknown;
}) => {
  const Tag = `h${level + (surface.mode === 'page' ? 0 : 1)}` as 'h1';
  return <Tag {...rest} />;
};

/** The name of a shop with its logo, or with its first letter. */
export const Merchant = ({
  name,
  logo = null,
  as: Tag = 'p',
}: {
  name: string;
  logo?: string | null;
  as?: 'p' | 'h1';
}) => (
  <Tag class="who">
    {logo === null ? (
      <span class="mark" aria-hidden="true">
        {[...name][0]?.toUpperCase()}
      </span>
    ) : (
      <img class="mark" src={logo} alt="" />
    )}
    <bdi>{name}</bdi>
  </Tag>
);

export const ItemPicture = ({ src }: { src: string }) => <img class="pic" src={src} alt="" />;

/** The class of a checkout's root. */
/** `own`: a page that no other site shows, as wide as its window. */
export const rootClass = ({
  mode,
  size,
  framed = true,
}: Pick<Surface, 'mode' | 'size'> & { framed?: boolean }): string =>
  `gw s-${size === 'phone' ? 'mobile' : size}${mode === 'page' ? ' page' : ''}${framed ? '' : ' own'}`;

/** A copy button; it works by script, and is not shown without. */
export const Copy = ({
  lang,
  value,
  label,
  look = 'btn copy',
}: {
  lang: Language;
  value: string;
  label: string;
  /** A button, or within a line a link. */
  look?: 'btn copy' | 'plain';
}) => (
  <button type="button" class={look} data-copy={value} aria-label={lang.say('copy_what', { what: label })}>
    {lang.say('copy')}
  </button>
);

/** A hash or an address: whole, to be copied, and to be looked up where an explorer is set. */
export const Hash = ({
  lang,
  label,
  value,
  href,
  copy = false,
}: {
  lang: Language;
  label: string;
  value: string;
  href: string | null;
  /** Whether a script is there that copies. */
  copy?: boolean;
}) => (
  <div class="fact">
    <dt class="key">{label}</dt>
    <dd class="val hash">
      <bdi dir="ltr" class="raw" {...asItIs}>
        {value}
      </bdi>
      {copy && <Copy lang={lang} value={value} label={label} look="plain" />}
      {href !== null && (
        <a class="look" href={href} target="_blank" rel="noopener noreferrer">
          {lang.say('explorer', { host: new URL(href).host })}
        </a>
      )}
    </dd>
  </div>
);
