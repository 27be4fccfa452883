import { expect, it } from 'vitest';
import { newMessage } from '../../../src/domain/messages/new-message.ts';
import { aMessage, anAccount, anSmsId, aProject, aSendRequest, NOW } from '../../support/builders.ts';

it('makes a pending message of a send that was accepted, and tries no channel yet', () => {
  const { channels, cost, prices, attemptTimeoutMs, ...rest } = aMessage();
  const accepted = {
    kind: 'accepted',
    account: anAccount(),
    channels,
    cost,
    prices,
    attemptTimeoutMs,
  } as const;
  expect(newMessage(anSmsId(), aProject(), aSendRequest(), accepted, NOW)).toEqual({
    ...rest,
    channels,
    cost,
    prices,
    attemptTimeoutMs,
  });
});
