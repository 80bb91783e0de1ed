// Original file: catalog.proto


export interface ListJobsRequestInput {
}

export interface ListJobsRequest {
}
