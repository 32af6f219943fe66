// Users as clients see them: signed up, signed in.
import type { TestApp } from './app.ts';

export const PASSWORD = 'correct horse battery';
/** An id that no one has. */
export const ABSENT_ID = '00000000-0000-4000-8000-000000000000';

let serial = 0;
/** An email address that no one has yet. */
export const address = (): string => `user${++serial}@example.com`;

export const signUp = (service: TestApp, body: object) =>
  service.fetch('POST', '/api/v1/users/signup', { body });

export const signInWith = (service: TestApp, fields: Record<string, string>) =>
  service.fetch('POST', '/api/v1/login/access-token', {
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });

export const signIn = (service: TestApp, username: string, password: string) =>
  signInWith(service, { username, password });

export interface Person {
  id: string;
  email: string;
  token: string;
}

/** A new user with `PASSWORD`, and a token of its. */
export async function person(service: TestApp): Promise<Person> {
  const email = address();
  const { json } = await signUp(service, { email, password: PASSWORD });
  const { access_token } = (await signIn(service, email, PASSWORD)).json;
  return { id: json.id, email, token: access_token };
}

export const me = (service: TestApp, token: string) => service.fetch('GET', '/api/v1/users/me', { token });
