import { connect } from 'node:net';
import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { translatePostgres } from '../dialect/postgres/translate-postgres.ts';
import { translateForeign } from '../dialect/translate-foreign.ts';
import { MessageSocket } from './message-socket.ts';
import type { PlannerOptions, PlannerReply, PlannerRequest } from './planner-message.ts';
import { printReply } from './plan-text.ts';
import { PlannerSession } from './planner-session.ts';

/** Entry of a planner process. It ends with the connection to its coordinator. */
const options = JSON.parse(must(process.argv[2], 'options')) as PlannerOptions;
const socket = connect(options.socket);
// A query may be running: leaving in good order would wait for it, or abort with a message.
socket.on('close', () => process.kill(process.pid, 'SIGKILL'));
socket.on('error', () => undefined);
// Signals reach the whole group of processes; the coordinator decides when this one ends.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined);

let session = await PlannerSession.open(options.memoryLimitBytes);
const coordinator = new MessageSocket<PlannerReply>(socket, (request) => {
  void answerSoundly(request as PlannerRequest).then((reply) => coordinator.send(reply));
});
coordinator.send({ kind: 'ready', planner: options.planner });

/** Answers; the next request, which may be another tenant's, meets a DuckDB without an internal error. */
async function answerSoundly(message: PlannerRequest): Promise<PlannerReply> {
  const reply = await answer(message);
  if (session.isSpoilt) {
    session.close();
    session = await PlannerSession.open(options.memoryLimitBytes);
  }
  return reply;
}

async function answer(message: PlannerRequest): Promise<PlannerReply> {
  try {
    if (message.kind === 'parse') return { kind: 'parsed', references: await session.parse(message.request) };
    if (message.kind === 'bind') return { kind: 'bound', refusals: await session.bind(message.request) };
    if (message.kind === 'describe') return { kind: 'described', reply: await session.describe(message.request) };
    if (message.kind === 'translate') {
      const { sql, dialect } = message.request;
      return { kind: 'translated', sql: translateForeign(sql, dialect) };
    }
    if (message.kind === 'postgres') {
      return { kind: 'rewritten', text: await translatePostgres(message.request) };
    }
    if (message.kind === 'parts') {
      await session.checkParts(message.parts);
      return { kind: 'proven' };
    }
    if (message.kind === 'compare') return { kind: 'compared', reply: await session.compare(message.request) };
    const { request } = message;
    return { kind: 'planned', reply: printReply(await session.plan(request), request) };
  } catch (thrown) {
    const error = SkeinError.of(thrown);
    // Our own recursive walk of the syntax tree overflowed the stack.
    if (thrown instanceof RangeError) {
      const tooDeep = new SkeinError('STATEMENT_TOO_COMPLEX', 'the statement is nested too deeply');
      return { kind: 'failed', error: tooDeep.toData(), detail: '' };
    }
    const { cause } = error;
    return {
      kind: 'failed',
      error: error.toData(),
      detail: cause instanceof Error ? (cause.stack ?? cause.message) : '',
    };
  }
}
