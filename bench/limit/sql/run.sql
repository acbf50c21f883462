select mutation.run('api_unstable', $2, $3, $1, false)
