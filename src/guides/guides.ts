// The list of everything that is written by hand, in the order people read it.
import { concepts } from './concepts.ts';
import { flows } from './flows.ts';
import type { Written } from './guide.ts';
import { howto } from './howto.ts';
import { embeds, pages } from './pages.ts';

export const written: readonly Written[] = [...flows, ...concepts, ...howto, ...pages, ...embeds];
