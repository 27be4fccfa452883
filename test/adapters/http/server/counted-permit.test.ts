import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { SERVER_LIMITS } from '../../../../src/adapters/http/limits.ts';
import { LoadShedder } from '../../../../src/adapters/http/server/load-shedder.ts';
import { RequestQueues } from '../../../../src/adapters/http/server/request-queues.ts';

it('a permit that ends twice takes nothing from the others of its address', () => {
  const shedder = new LoadShedder(
    { ...SERVER_LIMITS, requestsPerAddressMax: 2 },
    () => '127.0.0.1',
    new RequestQueues({ roundMs: (msMax) => msMax }),
  );
  const request = new IncomingMessage(new Socket());
  const first = shedder.begin(request);
  shedder.begin(request);
  first?.end();
  first?.end();
  expect(shedder.begin(request)).not.toBeNull();
  expect(shedder.begin(request)).toBeNull();
});
