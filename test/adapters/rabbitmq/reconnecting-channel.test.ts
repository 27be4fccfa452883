import { describe, expect, it } from 'vitest';
import { reconnectDelayMs } from '../../../src/adapters/rabbitmq/reconnecting-channel.ts';

describe('the wait before connecting again', () => {
  it.each([
    [0, 0.5, 50],
    [1, 0.5, 100],
    [2, 0.5, 200],
    [4, 0.5, 800],
    [5, 0.5, 1_000],
    [50, 0.5, 1_000],
    [5_000, 0.5, 1_000],
    [3, 0, 0],
  ])('the wait after %d failures and a draw of %d is %d ms', (failures, random, expected) => {
    expect(reconnectDelayMs(failures, random)).toBe(expected);
  });
});
