// Original file: worker.proto


export interface ClearCacheRequestInput {
}

export interface ClearCacheRequest {
}
