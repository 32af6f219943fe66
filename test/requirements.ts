// The specification as a test manifest: every behaviour that spec.md and decisions.md promise, and how tests name them.
import * as claims from './requirements/decisions-claims.ts';
import * as explaining from './requirements/decisions-explain.ts';
import * as money from './requirements/decisions-money.ts';
import * as payStep from './requirements/decisions-pay-step.ts';
import * as proofs from './requirements/decisions-proofs.ts';
import * as wayBack from './requirements/decisions-return.ts';
import * as service from './requirements/decisions-service.ts';
import * as shares from './requirements/decisions-shares.ts';
import * as switching from './requirements/decisions-switch.ts';
import * as wallets from './requirements/decisions-wallets.ts';
import * as endpoints from './requirements/spec-endpoints.ts';
import * as resources from './requirements/spec-resources.ts';
import * as rules from './requirements/spec-rules.ts';

export interface Requirement {
  /** Stable: tests name it. */
  id: string;
  /** Document and section: `spec: States and transitions`, `decisions: §3`. */
  source: string;
  sentence: string;
}

const files = [
  resources,
  endpoints,
  rules,
  money,
  service,
  proofs,
  wayBack,
  payStep,
  claims,
  wallets,
  switching,
  explaining,
  shares,
] as const;

type Sections<File> = File extends unknown ? File[keyof File] : never;
type Ids<Section> = Section extends { sentences: infer Sentences } ? keyof Sentences : never;
export type RequirementId = Ids<Sections<(typeof files)[number]>>;

export const requirements: readonly Requirement[] = files.flatMap((file) =>
  Object.values(file).flatMap(
    ({ source, sentences }: { source: string; sentences: Record<string, string> }) =>
      Object.entries(sentences).map(([id, sentence]) => ({ id, source, sentence })),
  ),
);

/**
 * Says, inside a test or a `describe`, which requirements it verifies. Does nothing when it runs: the compiler knows
 * the ids, and `requirements.test.ts` reads the calls from the sources.
 */
export function verifies(..._ids: [RequirementId, ...RequirementId[]]): void {}
