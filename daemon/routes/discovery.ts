// What tells people and programs what there is.
import type { getOpenApi } from '../../src/api/discovery.ts';
import { openapi } from '../../src/api/openapi.ts';
import type { App } from '../context.ts';
import type { Handlers } from '../http/handler.ts';

const documents = new WeakMap<App, ReturnType<typeof openapi>>();

export const discovery: Handlers<readonly [typeof getOpenApi]> = {
  getOpenApi(_, { app }) {
    const made = documents.get(app) ?? openapi({ base_url: app.config.public_url });
    documents.set(app, made);
    return { ...made };
  },
};
