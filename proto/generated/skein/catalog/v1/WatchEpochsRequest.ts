// Original file: catalog.proto


export interface WatchEpochsRequestInput {
}

export interface WatchEpochsRequest {
}
