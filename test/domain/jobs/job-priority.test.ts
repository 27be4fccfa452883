import { describe, expect, it } from 'vitest';
import {
  AWAITED_PRIORITIES,
  JOB_PRIORITIES,
  MESSAGE_PRIORITIES,
  messagePriority,
  SINGLE_MESSAGE_PRIORITIES,
} from '../../../src/domain/jobs/job-priority.ts';
import type { Content } from '../../../src/domain/messages/send-request.ts';
import { aCode, aTemplateContent, aText } from '../../support/builders.ts';

describe('the priorities of jobs', () => {
  it('the priorities begin with the most urgent one, and end with housekeeping', () => {
    expect(JOB_PRIORITIES).toEqual(['code', 'text', 'campaign', 'webhook', 'housekeeping']);
  });

  it('somebody waits for every job but those of housekeeping', () => {
    expect(AWAITED_PRIORITIES).toEqual(['code', 'text', 'campaign', 'webhook']);
  });

  it('the jobs of messages have three priorities, and those of single messages two of them', () => {
    expect(SINGLE_MESSAGE_PRIORITIES).toEqual(['code', 'text']);
    expect(MESSAGE_PRIORITIES).toEqual(['code', 'text', 'campaign']);
  });
});

describe('the priority of a message', () => {
  const priorityOf = (content: Content) => messagePriority({ content, campaignId: null });

  it('a code is more urgent than a text or a template', () => {
    expect(priorityOf(aCode())).toBe('code');
    expect(priorityOf(aText())).toBe('text');
    expect(priorityOf(aTemplateContent())).toBe('text');
  });

  it('a message of a campaign has the priority of campaigns, whatever it says', () => {
    for (const content of [aCode(), aText(), aTemplateContent()]) {
      expect(messagePriority({ content, campaignId: '664abc' })).toBe('campaign');
    }
  });
});
