import { expect, it } from 'vitest';
import { withSandboxFaults } from '../../../../../src/adapters/http/families/messages/sandbox-faults.ts';
import { ok } from '../../../../../src/adapters/http/replies/http-reply.ts';
import { aProject } from '../../../../support/builders.ts';

it('a slow reply of a test number is waited for without a place of the process', async () => {
  const events: string[] = [];
  const send = withSandboxFaults(
    async () => {
      events.push('sent');
      return ok({ smsId: 'sms-1' });
    },
    async (ms) => {
      events.push(`waited ${ms} ms`);
    },
  );
  const withoutPlace = (wait: () => Promise<unknown>) => {
    events.push('left the place');
    return wait();
  };
  const input = {
    caller: aProject({ environment: 'dev' }),
    body: { phoneNumber: '9990000000109' },
    withoutPlace,
  };
  await send(input as never);
  expect(events).toEqual(['sent', 'left the place', 'waited 5000 ms']);
});
