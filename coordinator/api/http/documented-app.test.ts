import { expect, test } from 'vitest';
import { documentedApp } from './documented-app.ts';

test('while the server closes, a request that reaches it is answered as ever', async () => {
  const app = documentedApp({});
  const answers: number[] = [];
  let address = '';
  app.setNotFoundHandler((_request, reply) => reply.code(418).send());
  // It has begun to close, and still takes what comes on its connections.
  app.addHook('preClose', async () => {
    answers.push((await fetch(address)).status);
  });
  address = await app.listen({ host: '127.0.0.1', port: 0 });
  await app.close();
  expect(answers).toEqual([418]);
});
