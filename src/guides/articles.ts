// The list of all articles, in the order people read it.

import type { Article } from './article.ts';
import { concepts } from './concepts.ts';
import { flows } from './flows.ts';
import { howto } from './howto.ts';
import { embeds, pages } from './pages.ts';

export const articles: readonly Article[] = [...flows, ...concepts, ...howto, ...pages, ...embeds];
