import { z } from 'zod';
import { STATEMENT_KINDS } from '../../../../../domain/billing/ledger.ts';
import { IQD_MAX } from '../../../../../domain/shared/money.ts';
import { BODY_ERROR } from '../../../input/body-error.ts';
import {
  amountField,
  ID_EXAMPLE,
  INSTANT_EXAMPLE,
  instant,
  iqdAmount,
  next,
  reason,
  SMALLEST_IQD,
} from '../shared-schemas.ts';

/** POST …/top-ups. */
export const topUpBody = z
  .object(
    {
      amount: amountField('amount', SMALLEST_IQD).meta({
        description: 'What is added, in IQD',
        examples: [15_000],
      }),
      reason: reason.meta({ description: 'For the audit log', examples: ['Invoice 4711'] }).optional(),
    },
    { error: BODY_ERROR },
  )
  .meta({ id: 'TopUp', description: 'Credit to add' });

/** POST …/corrections. */
export const correctionBody = z
  .object(
    {
      amount: amountField('amount', -IQD_MAX)
        .refine((amount) => amount !== 0, { error: 'amount must not be 0' })
        .meta({ description: 'What is added, or taken when it is below 0, in IQD', examples: [-250.5] }),
      reason: reason.meta({ description: 'For the audit log', examples: ['Invoice 4711 was counted twice'] }),
    },
    { error: BODY_ERROR },
  )
  .meta({ id: 'Correction', description: 'A change of the balance' });

/** The money of a project after a change. */
export const creditSchema = z
  .object({
    id: z.string().meta({
      description: 'The audit record, and the reference of the ledger entry',
      examples: [ID_EXAMPLE],
    }),
    credit: iqdAmount.meta({ description: 'The balance less open holds, never below 0', examples: [15_000] }),
    balance: iqdAmount.meta({ description: 'Deposits and corrections less captures', examples: [15_000] }),
    held: iqdAmount.meta({ description: 'Open holds', examples: [0] }),
    spent: iqdAmount.meta({ description: 'Captures since the last threshold reset', examples: [0] }),
    isTrial: z.boolean().meta({ description: 'Whether it sends to its own number only', examples: [false] }),
  })
  .meta({ id: 'AdminCredit', description: 'The money of a project after a change' });

/** GET …/statement. */
export const statementPage = z
  .object({
    lines: z
      .array(
        z
          .object({
            id: z.string().meta({
              description: 'The ledger entry',
              examples: [`${ID_EXAMPLE}/deposit`],
            }),
            at: instant.meta({ description: 'ISO 8601', examples: [INSTANT_EXAMPLE] }),
            kind: z.enum(STATEMENT_KINDS).meta({
              description: '`settlement` is what a message was charged; holds are not in a statement',
              examples: ['deposit'],
            }),
            reference: z.string().meta({
              description: 'The `smsId` of a message, or the id of an audit record',
              examples: [ID_EXAMPLE],
            }),
            amount: iqdAmount.meta({ description: 'The change of the balance, in IQD', examples: [15_000] }),
            balance: iqdAmount.meta({
              description: 'The balance after the entry, in IQD',
              examples: [15_000],
            }),
          })
          .meta({ id: 'StatementLine', description: 'A ledger entry' }),
      )
      .meta({ description: 'The newest first' }),
    next,
  })
  .meta({ id: 'Statement', description: 'One page of the statement of a project' });
