import { describe, expect, test } from 'vitest';
import { type MessageStatus, raiseStatus } from '../../../src/domain/messages/message-status.ts';

describe('raising a status', () => {
  test.each<[current: MessageStatus, heard: MessageStatus, then: MessageStatus]>([
    ['pending', 'pending', 'pending'],
    ['pending', 'sent', 'sent'],
    ['pending', 'delivered', 'delivered'],
    ['pending', 'read', 'read'],
    ['pending', 'failed', 'failed'],
    ['sent', 'pending', 'sent'],
    ['sent', 'sent', 'sent'],
    ['sent', 'delivered', 'delivered'],
    ['sent', 'read', 'read'],
    ['sent', 'failed', 'failed'],
    ['delivered', 'pending', 'delivered'],
    ['delivered', 'sent', 'delivered'],
    ['delivered', 'delivered', 'delivered'],
    ['delivered', 'read', 'read'],
    ['delivered', 'failed', 'delivered'],
    ['read', 'pending', 'read'],
    ['read', 'sent', 'read'],
    ['read', 'delivered', 'read'],
    ['read', 'read', 'read'],
    ['read', 'failed', 'read'],
    ['failed', 'pending', 'failed'],
    ['failed', 'sent', 'failed'],
    ['failed', 'delivered', 'failed'],
    ['failed', 'read', 'failed'],
    ['failed', 'failed', 'failed'],
  ])('%s, hearing %s, is %s', (current, heard, then) => {
    expect(raiseStatus(current, heard)).toBe(then);
  });
});
