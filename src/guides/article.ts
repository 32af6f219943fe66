// What an article of the catalog is: a flow, concept, guide, page or embed, written by hand.

import type { Auth } from '../api/describe/endpoint.ts';
import type { EndpointId } from '../api/endpoints/api.ts';

export interface Article {
  /** `<kind>.<name>`, stable. */
  id: string;
  kind: 'flow' | 'concept' | 'guide' | 'page' | 'embed';
  title: string;
  /** One line. */
  summary: string;
  /** What people call it, for search. */
  keywords?: string;
  auth: Auth;
  /** Full text, Markdown. `{base_url}` stands for the deployment; other braces for values of the reader's own. */
  docs: string;
  /** Of a flow: endpoints in the order they are called. */
  steps?: readonly EndpointId[];
  /** The call that shows it. */
  call?: EndpointId;
  /** Where it is seen, with parameters in braces; its own text where there is none. */
  path?: string;
  /** For operators. */
  hidden?: true;
}
