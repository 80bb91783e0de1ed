/** The deliveries that are due are looked for webhook by webhook, so that one with many keeps no other waiting. */
export const WEBHOOKS_MIGRATION: readonly string[] = [
  `create index webhook_delivery_due_of on catalog.webhook_delivery (webhook_id, due_at) where due_at is not null`,
  `drop index catalog.webhook_delivery_due`,
];
