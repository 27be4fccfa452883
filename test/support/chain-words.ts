import type { Answer, ChainEffect, ChainEvent, Report } from '../../src/domain/messages/chain-event.ts';

export const start = (step: number): ChainEvent => ({ kind: 'start', step });
export const deadline = (step: number): ChainEvent => ({ kind: 'deadline', step });
export const reported = (step: number, kind: 'sent' | 'delivered' | 'read'): ChainEvent => ({
  kind: 'reported',
  step,
  report: { kind },
});
export const reportedFailed = (step: number, reason: string): ChainEvent => ({
  kind: 'reported',
  step,
  report: { kind: 'failed', reason },
});
export const answered = (step: number, answer: Answer): ChainEvent => ({ kind: 'answered', step, answer });
export const accepted = (step: number, reference: string | null = null): ChainEvent =>
  answered(step, { kind: 'accepted', reference });
export const refused = (step: number, reason: string, endsChain = false): ChainEvent =>
  answered(step, { kind: 'refused', reason, endsChain });
export const unknown = (step: number, reason: string): ChainEvent =>
  answered(step, { kind: 'unknown', reason });

export const REPORT_KINDS: readonly Exclude<Report['kind'], 'failed'>[] = ['sent', 'delivered', 'read'];

/** An effect in a few words; deadlines count from `now`. */
export function inWords(effect: ChainEffect, now: number): string {
  switch (effect.kind) {
    case 'submit':
      return `submit ${effect.step}`;
    case 'schedule-start':
      return `start ${effect.step}`;
    case 'schedule-deadline':
      return `deadline ${effect.step} in ${effect.at - now}`;
    case 'unschedule':
      return `unschedule ${effect.step}`;
    case 'settle':
      return effect.channel === null ? 'give back' : `take for ${effect.channel}`;
    case 'status-changed': {
      const reason = effect.reason === null ? '' : `: ${effect.reason}`;
      return `${effect.isFinal ? 'finally ' : ''}${effect.status} ${effect.channel}${reason}`;
    }
    default:
      return effect satisfies never;
  }
}
