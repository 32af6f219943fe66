// Starts Swagger UI. Calls go to where the page was loaded from, whatever name the deployment gives itself.
import { baseOfScript } from './base.ts';

declare const SwaggerUIBundle: (options: Record<string, unknown>) => unknown;

const base = baseOfScript();

async function start(): Promise<void> {
  const response = await fetch(`${base}/api/v1/openapi.json`);
  const spec = await response.json();
  SwaggerUIBundle({
    spec: { ...spec, servers: [{ url: base }] },
    dom_id: '#swagger-ui',
    deepLinking: true,
    docExpansion: 'list',
    validatorUrl: null,
  });
}

void start();
