select mutation.run('api_unstable', $1, $2, null, false)
